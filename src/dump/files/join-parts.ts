import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Kind } from "../../rows/columns.js";
import { ByteFacts, type FileFacts } from "./byte-facts.js";
import { type Compression, openCompressor } from "./compression.js";
import { flush } from "./flush.js";
import { readPieces } from "./read-pieces.js";

/** Rows of one kind as text, in a file that was written while the crawl went on, and what is in it. */
export interface PartFile extends FileFacts {
  readonly kind: Kind;
  readonly format: string;
  readonly path: string;
  /** The byte of the file at which the rows begin, where they are a part of it; absent: they are all of it. */
  readonly start?: number;
}

/** The size and the SHA-256 of a file. */
export type Fingerprint = Pick<FileFacts, "bytes" | "sha256">;

/** A file that was joined: the bytes of the file itself, which is compressed or not. */
export interface JoinedFile extends Fingerprint {
  /** The facts of its text. */
  readonly text: FileFacts;
}

export interface JoinOptions {
  readonly compression?: Compression;
  /** Its reason is what the join rejects with when it is aborted, at the next piece. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a file of `head` and then the parts, one after the other, that only its owner can read; flushed to disk. A part
 * that is the whole file is not written a second time: it gets a second name, and must not be written to any more.
 */
export async function joinParts(
  target: string,
  head: string,
  parts: readonly PartFile[],
  { compression = "none", signal }: JoinOptions = {},
): Promise<JoinedFile> {
  await rm(target, { force: true });
  const [first, ...others] = parts;
  if (first && first.start === undefined && others.length === 0 && head === "" && compression === "none") {
    await link(first.path, target).catch(() => copyFile(first.path, target, constants.COPYFILE_FICLONE));
    await flush(target);
    return { bytes: first.bytes, sha256: first.sha256, text: first };
  }
  const counted = new ByteFacts();
  async function* text() {
    for await (const piece of textOf(head, parts)) {
      signal?.throwIfAborted();
      counted.add(piece);
      yield piece;
    }
  }
  const file = await open(target, "wx", 0o600);
  try {
    const written = await (compression === "none"
      ? writePieces(file, text())
      : pipeline(text(), openCompressor(compression), (pieces) => writePieces(file, pieces)));
    await file.sync();
    return { ...written, text: counted.facts };
  } finally {
    await file.close();
  }
}

/** The bytes of the head and of the parts. Rejects where a part is shorter than it should be. */
async function* textOf(head: string, parts: readonly PartFile[]): AsyncGenerator<Buffer> {
  if (head) yield Buffer.from(head);
  for (const { path, start, bytes } of parts) {
    let left = bytes;
    for await (const piece of readPieces(path, start === undefined ? undefined : { start, bytes })) {
      left -= piece.length;
      yield piece;
    }
    if (start !== undefined && left > 0) throw new Error(`${path} ends ${left} bytes too early`);
  }
}

/** Writes pieces to a file; gives the size and the hash of what it wrote. */
async function writePieces(file: FileHandle, pieces: AsyncIterable<Buffer>): Promise<Fingerprint> {
  return fingerprintOf(pieces, (piece) => file.writeFile(piece));
}

/** Bytes and hash of a file, read in pieces. */
export async function fingerprint(path: string): Promise<Fingerprint> {
  return fingerprintOf(readPieces(path));
}

async function fingerprintOf(
  pieces: AsyncIterable<Buffer>,
  take: (piece: Buffer) => Promise<void> = async () => {},
): Promise<Fingerprint> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
    await take(piece);
  }
  return { bytes, sha256: hash.digest("hex") };
}
