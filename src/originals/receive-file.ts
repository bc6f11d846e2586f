import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import type { IncomingFile } from "../client/download/open-downloads.js";
import { RetryError, SkipError } from "../errors.js";
import type { Received } from "./judge-original.js";

/**
 * Writes a file to the disk piece by piece, readable by its owner only, flushed. One that breaks off is kept as far as it came. SkipError
 * when it is longer than the bound; an error of the disk stays one.
 */
export async function receiveFile(
  { announced, pieces }: IncomingFile,
  path: string,
  longest: number,
): Promise<Received & { readonly failure: RetryError | null }> {
  await rm(path, { force: true }); // it may have a second name in a published run, whose bytes must stay
  const hash = createHash("sha256");
  let bytes = 0;
  let failure: RetryError | null = null;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > longest) throw tooLong(longest);
      hash.update(piece);
      await file.writeFile(piece);
    }
  } catch (error) {
    if (!(error instanceof RetryError)) throw error;
    failure = error;
  } finally {
    await file.sync();
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex"), announced, brokeOff: failure?.message ?? null, failure };
}

/** The error of a file above the bound. */
export function tooLong(longest: number): SkipError {
  return new SkipError(`it is longer than ${longest / 1_000_000} MB; service.max_original sets the bound`);
}
