import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { compressionOf, openDecompressor } from "./compression.js";
import { UnreadableError } from "./files.js";

/** The longest line that is read, in bytes: far above what a row can be, and below what a string of JavaScript can hold. */
const longest = 256 * 1024 * 1024;

/** The lines of a file, without their line feeds, some at a time. Memory is that of one piece or line. */
export async function* splitLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let begun: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      const rest = piece.subarray(start, end);
      lines.push(begun.length > 0 ? Buffer.concat([...begun, rest]) : rest);
      begun = [];
      size = 0;
      start = end + 1;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
    size += piece.length - start;
    if (size > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}

const lineFeed = 10;
/** Bytes of UTF-8 that a UTF-16 code unit takes at the most. */
const widest = 3;
/** Bytes that are kept at the most: those of a megabyte of text, which is what waits for the disk, and of some rows more. */
const mostKept = 4_194_304;

/** UTF-8 of the texts, a line feed behind each: written once, without a joined text in between. */
export function encodeLines(texts: readonly string[]): Buffer {
  return new LineEncoder().encode(texts);
}

/** Encodes lines, time and again, into the same memory: fresh memory takes longer than the encoding. */
export class LineEncoder {
  #room = Buffer.alloc(0);

  /** UTF-8 of the texts, a line feed behind each; valid until the next call. */
  encode(texts: readonly string[]): Buffer {
    let most = texts.length;
    for (const { length } of texts) most += length * widest;
    const room = this.#room.length < most ? Buffer.allocUnsafeSlow(most) : this.#room;
    if (most <= mostKept) this.#room = room;
    let at = 0;
    for (const text of texts) {
      at += room.write(text, at);
      room[at++] = lineFeed;
    }
    return room.subarray(0, at);
  }
}

/** Bytes of a file that are read at a time. */
export const pieceBytes = 1 << 20;

/** The bytes of a file, a megabyte at a time. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: pieceBytes }); // closes the file
}

/** The same, each piece in the same memory: it is valid until the next one. For many files that are small. */
export async function* readInto(memory: Buffer, path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (;;) {
      const { bytesRead } = await file.read(memory, 0, memory.length, null);
      if (bytesRead === 0) return;
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** The bytes of the text in a file, which may be compressed, as its ending says. UnreadableError when that is not so. */
export async function* readTextPieces(path: string): AsyncGenerator<Buffer> {
  yield* textPieces(path, readPieces(path));
}

/** The same of pieces that are read already; the path gives the ending. */
export async function* textPieces(path: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compression = compressionOf(path);
  if (compression === "none") return yield* pieces;
  const text = openDecompressor(compression);
  pipeline(pieces, text, () => {}); // an error comes out below
  try {
    yield* text;
  } catch (error) {
    if (error instanceof Error && "code" in error && /^(Z_|ERR_ZSTD|ZSTD_)/.test(String(error.code)))
      throw new UnreadableError(`cannot be decompressed: it is damaged, or no file of ${compression}`, {
        cause: error,
      });
    throw error;
  }
}

/** Bytes that are written at once. */
const size = 1 << 20;

/**
 * Gathers small pieces to large ones, which a disk takes with fewer calls. A piece that it takes, and one that it gives, may be used
 * again once the next one is asked for: fresh memory for each keeps the garbage collector busy.
 */
export async function* gatherPieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gathered = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for await (const piece of pieces) {
    if (length + piece.length > size) {
      if (length > 0) yield gathered.subarray(0, length);
      length = 0;
    }
    if (piece.length > size) {
      yield piece;
      continue;
    }
    piece.copy(gathered, length);
    length += piece.length;
  }
  if (length > 0) yield gathered.subarray(0, length);
}

/** Bytes that are read ahead of a range, as the next one of the same file mostly follows it. */
const ahead = 65_536;
/** Files that stay open. */
const most = 256;

/** Bytes of a file. */
interface Range {
  readonly path: string;
  readonly start: number;
  readonly bytes: number;
}

/** A file that is open, and the bytes of it that were read last. */
interface OpenFile {
  readonly file: FileHandle;
  readonly buffer: Buffer;
  start: number;
  bytes: number;
}

/** Reads ranges of several files in turn, such as those of documents, with few calls of the disk where ranges of one file follow each other. */
export class RangeReader {
  /** The one that was used last comes last. */
  readonly #files = new Map<string, OpenFile>();

  /** Gives the bytes of a range, piece by piece; a piece is valid until the next one. Rejects where the file ends before. */
  async *pieces({ path, start, bytes }: Range): AsyncGenerator<Buffer> {
    const end = start + bytes;
    // A file that was not open may be read this once, where there are more files than stay open.
    let wanted = this.#files.has(path) ? ahead : Math.min(bytes, ahead);
    const open = await this.#open(path);
    for (let at = start; at < end; ) {
      if (at < open.start || at >= open.start + open.bytes) {
        const { bytesRead } = await open.file.read(open.buffer, 0, wanted, at);
        if (bytesRead === 0) throw new Error(`${path} ends ${end - at} bytes too early`);
        [open.start, open.bytes] = [at, bytesRead];
        wanted = ahead;
      }
      const piece = open.buffer.subarray(at - open.start, Math.min(open.bytes, end - open.start));
      yield piece;
      at += piece.length;
    }
  }

  async #open(path: string): Promise<OpenFile> {
    const known = this.#files.get(path);
    this.#files.delete(path);
    if (!known && this.#files.size >= most) await this.#closeOldest();
    const found = known ?? {
      file: await open(path, constants.O_RDONLY | constants.O_NOFOLLOW),
      buffer: Buffer.allocUnsafe(ahead),
      start: 0,
      bytes: 0,
    };
    this.#files.set(path, found);
    return found;
  }

  async #closeOldest(): Promise<void> {
    for (const [path, { file }] of this.#files) {
      this.#files.delete(path);
      return file.close();
    }
  }

  async close(): Promise<void> {
    for (const { file } of this.#files.values()) await file.close();
    this.#files.clear();
  }
}
