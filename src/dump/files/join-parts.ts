import { createHash } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, open, rm } from "node:fs/promises";
import type { Transform } from "node:stream";
import type { Kind } from "../../rows/columns.js";
import { ByteFacts, type FileFacts } from "./byte-facts.js";
import { type Compression, openCompressor } from "./compression.js";
import { flush } from "./flush.js";
import { RangeReader } from "./read-ranges.js";
import { WriteBatch } from "./write-batch.js";

/** Rows of one kind as text, and what is in it. */
export type PartFile = WholePart | PartRange;

interface PartPlace {
  readonly kind: Kind;
  readonly format: string;
  readonly path: string;
}

/** Rows in a file of their own, which was written while the crawl went on. */
export interface WholePart extends PartPlace, FileFacts {
  readonly start?: undefined;
}

/** Rows that are a part of a file, such as those of one document. */
export interface PartRange extends PartPlace, Omit<FileFacts, "sha256"> {
  /** The byte of the file at which they begin. */
  readonly start: number;
}

/** A file that was joined. */
export interface JoinedFile {
  /** The bytes of the file itself, which is compressed or not. */
  readonly bytes: number;
  readonly sha256: string;
  /** The facts of its text. */
  readonly text: FileFacts;
}

/**
 * Makes a file of `head` and then the parts, one after the other, that only its owner can read; flushed to disk. A part
 * that is the whole file is not written a second time: it gets a second name, and must not be written to any more.
 */
export async function joinParts(
  target: string,
  head: string,
  parts: readonly PartFile[],
  compression: Compression = "none",
): Promise<JoinedFile> {
  await rm(target, { force: true });
  const [first, ...others] = parts;
  if (first && first.start === undefined && others.length === 0 && head === "" && compression === "none") {
    await link(first.path, target).catch(() => copyFile(first.path, target, constants.COPYFILE_FICLONE));
    await flush(target);
    return { bytes: first.bytes, sha256: first.sha256, text: first };
  }
  const file = await open(target, "wx", 0o600);
  const ranges = new RangeReader();
  try {
    const counted = new ByteFacts();
    const written = compression === "none" ? undefined : new CompressedFile(file, openCompressor(compression));
    const batch = new WriteBatch((bytes) => (written ? written.write(bytes) : file.writeFile(bytes)));
    const write = async (piece: Uint8Array) => {
      counted.add(piece);
      await batch.add(piece);
    };
    if (head) await write(Buffer.from(head));
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (const part of parts)
      if (part.start === undefined) await readPieces(part.path, buffer, write);
      else for await (const piece of ranges.pieces(part)) await write(piece);
    await batch.flush();
    const compressed = await written?.end();
    await file.sync();
    const text = counted.facts;
    return { ...(compressed ?? { bytes: text.bytes, sha256: text.sha256 }), text };
  } finally {
    await ranges.close();
    await file.close();
  }
}

/** Writes what comes out of a compressor to a file, while more goes in. */
class CompressedFile {
  readonly #compressor: Transform;
  readonly #writing: Promise<Pick<FileFacts, "bytes" | "sha256">>;

  constructor(file: FileHandle, compressor: Transform) {
    this.#compressor = compressor;
    this.#writing = writeAll(file, compressor);
    this.#writing.catch(() => {}); // seen by the next write, or at the end
    compressor.on("error", () => {}); // likewise
  }

  /** Rejects with the error of the disk, at the next piece after it or at the end. */
  async write(piece: Uint8Array): Promise<void> {
    if (!this.#compressor.write(Buffer.from(piece)))
      await Promise.race([once(this.#compressor, "drain"), this.#writing]);
  }

  /** The bytes and the hash of the file. */
  async end(): Promise<Pick<FileFacts, "bytes" | "sha256">> {
    this.#compressor.end();
    return this.#writing;
  }
}

async function writeAll(file: FileHandle, pieces: AsyncIterable<Buffer>): Promise<Pick<FileFacts, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
    await file.writeFile(piece);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Bytes and hash of a file, read in pieces. */
export async function fingerprint(path: string): Promise<Pick<FileFacts, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  let bytes = 0;
  await readPieces(path, Buffer.allocUnsafe(1 << 20), async (piece) => {
    hash.update(piece);
    bytes += piece.length;
  });
  return { bytes, sha256: hash.digest("hex") };
}

/** Reads a file in pieces. */
async function readPieces(path: string, buffer: Buffer, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      await take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
