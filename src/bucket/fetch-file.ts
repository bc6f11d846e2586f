import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { StopError } from "../errors.js";
import type { FileFacts, Transfer } from "./bucket.js";
import { factsOf } from "./bucket-error.js";
import type { S3 } from "./client.js";
import { isAbsent } from "./read-object.js";
import { urlOfPlace } from "./s3-url.js";

/** An object that is gone, or has other bytes than kbdump uploaded. Exit 1. */
export class DamagedError extends StopError {}

/** Bytes that one request asks for; they are in memory until they are written. */
const rangeBytes = 16 * 1024 * 1024;

/** Writes an object into a new local file, readable by its owner only. DamagedError, and no file, where it does not have these facts. */
export async function fetchFile(
  s3: S3,
  key: string,
  path: string,
  facts: FileFacts,
  { signal = s3.signal, onBytes }: Transfer = {},
): Promise<void> {
  const file = await open(path, "wx", 0o600);
  let isWhole = false;
  try {
    const hash = createHash("sha256");
    let [start, etag]: [number, string | undefined] = [0, undefined];
    do {
      signal.throwIfAborted();
      const range = await readRange(s3, key, { start, etag, facts, signal });
      hash.update(range.bytes);
      await file.writeFile(range.bytes);
      onBytes?.(range.bytes.length);
      [start, etag] = [start + range.bytes.length, range.etag];
    } while (start < facts.bytes);
    if (facts.sha256 !== undefined && hash.digest("hex") !== facts.sha256) throw otherContent(s3, key, facts);
    isWhole = true;
  } finally {
    await file.close();
    if (!isWhole) await rm(path, { force: true });
  }
}

interface Range {
  readonly start: number;
  /** That of the range before: the object must not be replaced in between. */
  readonly etag: string | undefined;
  readonly facts: FileFacts;
  readonly signal: AbortSignal;
}

async function readRange(s3: S3, key: string, { start, etag, facts, signal }: Range) {
  const end = Math.min(start + rangeBytes, facts.bytes);
  const command = new s3.sdk.GetObjectCommand({
    ...s3.at(key),
    ...(end > start ? { Range: `bytes=${start}-${end - 1}` } : {}),
    ...(etag === undefined ? {} : { IfMatch: etag }),
  });
  return s3.ask("read", key, async () => {
    try {
      const { Body, ContentRange = "", ETag } = await s3.client.send(command, { abortSignal: signal });
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const total = Number(/\/(\d+)$/.exec(ContentRange)?.[1] ?? bytes.length);
      if (total !== facts.bytes || bytes.length !== end - start) throw otherContent(s3, key, facts, total);
      return { bytes, etag: ETag };
    } catch (error) {
      signal.throwIfAborted();
      if (isAbsent(error)) throw new DamagedError(`cannot read ${urlOfPlace(s3.place, key)}: it is not there`);
      const { status } = factsOf(error);
      throw status === 412 || status === 416 ? otherContent(s3, key, facts) : error;
    }
  });
}

/** `bytes`: the size that it has, where that is what differs. */
function otherContent({ place }: S3, key: string, facts: FileFacts, bytes = facts.bytes): DamagedError {
  const difference =
    bytes === facts.bytes ? `its SHA-256 is not ${facts.sha256}` : `it has ${bytes} bytes, not ${facts.bytes}`;
  return new DamagedError(
    `${urlOfPlace(place, key)} is not what was uploaded: ${difference}. It was damaged or replaced; take another run`,
  );
}
