import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Kind } from "../rows/columns.js";
import { ByteFacts, type FileFacts } from "./byte-facts.js";
import { type Compression, openCompressor } from "./compression.js";
import { flush } from "./flush.js";
import { gatherPieces, pieceBytes, RangeReader, readInto } from "./lines.js";

/** Rows of one kind as text, with facts about them. */
export type SegmentFile = WholeSegment | SegmentRange;

/** The kind, format and path of a segment. */
export interface SegmentLocation {
  readonly kind: Kind;
  readonly format: string;
  readonly path: string;
}

/** Rows in their own file, written during the crawl. */
interface WholeSegment extends SegmentLocation, FileFacts {
  readonly start?: undefined;
}

/** Rows in a range of a file, such as those of one document. */
export interface SegmentRange extends SegmentLocation, Omit<FileFacts, "sha256"> {
  /** The offset of the first row. */
  readonly start: number;
}

/** The size and the SHA-256 of a file. */
export type Fingerprint = Pick<FileFacts, "bytes" | "sha256">;

/** A joined file. Size and hash are those of the file, compressed or not. */
export interface JoinedFile extends Fingerprint {
  /** The facts of the text before compression. */
  readonly text: FileFacts;
}

export interface JoinOptions {
  readonly compression?: Compression;
  /** Aborting it ends the join, which rejects with the reason at the next piece. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Joins `head` and the segments into a file, readable by its owner only and flushed to disk. A segment that makes up the whole file is
 * hard-linked instead of copied, and must not be written to any more.
 */
export async function joinSegments(
  target: string,
  head: string,
  segments: readonly SegmentFile[],
  { compression = "none", signal }: JoinOptions = {},
): Promise<JoinedFile> {
  await rm(target, { force: true });
  const [first, ...others] = segments;
  if (first && first.start === undefined && others.length === 0 && head === "" && compression === "none") {
    await link(first.path, target).catch(() => copyFile(first.path, target, constants.COPYFILE_FICLONE));
    await flush(target);
    return { bytes: first.bytes, sha256: first.sha256, text: first };
  }
  const counted = new ByteFacts({ looksForNumbers: false });
  async function* text() {
    for await (const piece of gatherPieces(textOf(head, segments))) {
      signal?.throwIfAborted();
      counted.add(piece);
      yield piece;
    }
  }
  const file = await open(target, "wx", 0o600);
  try {
    const written = await writeText(file, text(), compression);
    await file.sync();
    const facts = { ...counted.facts, longNumbers: segments.some(({ longNumbers }) => longNumbers) };
    return { bytes: facts.bytes, sha256: facts.sha256, ...written, text: facts };
  } finally {
    await file.close();
  }
}

/** Yields the bytes of the head and the segments. A piece is valid until the next one. Rejects if a segment is too short. */
async function* textOf(head: string, segments: readonly SegmentFile[]): AsyncGenerator<Buffer> {
  if (head) yield Buffer.from(head);
  const ranges = new RangeReader();
  const memory = Buffer.allocUnsafeSlow(pieceBytes);
  try {
    for (const segment of segments)
      yield* segment.start === undefined ? readInto(memory, segment.path) : ranges.pieces(segment);
  } finally {
    await ranges.close();
  }
}

/** Writes a text to a file. Returns the size and hash of the file if they differ from the text's. */
async function writeText(
  file: FileHandle,
  text: AsyncIterable<Buffer>,
  compression: Compression,
): Promise<Fingerprint | undefined> {
  const write = (piece: Buffer) => file.writeFile(piece);
  if (compression !== "none")
    return pipeline(copied(text), openCompressor(compression), (pieces: AsyncIterable<Buffer>) =>
      fingerprintOf(pieces, write),
    );
  for await (const piece of text) await write(piece);
  return undefined;
}

/** Yields copies of the pieces, because a compressor holds one piece while the next is read. */
async function* copied(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** The size and hash of a file, read in pieces. */
export async function fingerprint(path: string): Promise<Fingerprint> {
  return fingerprintOf(readInto(Buffer.allocUnsafe(pieceBytes), path));
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
