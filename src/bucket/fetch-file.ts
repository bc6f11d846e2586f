import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { StopError } from "../errors.js";
import type { FileFacts, Transfer } from "./bucket.js";
import { type S3, unlessBroken } from "./client.js";
import { isAbsent } from "./read-object.js";
import { urlOfPlace } from "./s3-url.js";

/** Writes an object into a new local file, readable by its owner only. It is removed again where it does not have these facts. */
export async function fetchFile(
  s3: S3,
  key: string,
  path: string,
  facts: FileFacts,
  { signal, onBytes }: Transfer = {},
): Promise<void> {
  const ends = AbortSignal.any([s3.signal, ...(signal ? [signal] : [])]);
  await unlessBroken(async () => {
    const file = await open(path, "wx", 0o600);
    let isWhole = false;
    try {
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const piece of piecesOf(s3, key, ends)) {
        bytes += piece.length;
        if (bytes > facts.bytes) break;
        hash.update(piece);
        await file.writeFile(piece);
        onBytes?.(piece.length);
      }
      checkFacts(urlOfPlace(s3.place, key), facts, { bytes, sha256: hash.digest("hex") });
      isWhole = true;
    } finally {
      await file.close();
      if (!isWhole) await rm(path, { force: true });
    }
  });
}

/** The content of an object as it comes; its errors are those of the bucket alone. */
async function* piecesOf(s3: S3, key: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const command = new s3.sdk.GetObjectCommand(s3.at(key));
  const answer = await s3.ask("read", key, async () => {
    try {
      return await s3.client.send(command, { abortSignal: signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isAbsent(error)) throw error;
      throw new StopError(`cannot read ${urlOfPlace(s3.place, key)}: it is not there`);
    }
  });
  try {
    yield* answer.Body as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal.throwIfAborted();
    throw s3.explain(error, "read", key);
  }
}

function checkFacts(url: string, expected: FileFacts, found: FileFacts): void {
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  const size = found.bytes > expected.bytes ? `more than ${expected.bytes}` : found.bytes;
  throw new StopError(
    `${url} is not what was uploaded: it has ${size} bytes of ${expected.bytes}, or another SHA-256 than ${expected.sha256}. It was damaged or replaced; take another run`,
  );
}
