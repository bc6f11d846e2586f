import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { compressionOf, isCompressed, openDecompressor } from "./compression.js";
import { UnreadableError } from "./files.js";

const lineFeed = 10;
const quote = 34;

/** Maximum bytes of a line: far above any real row, and below the longest JavaScript string. */
const longest = 256 * 1024 * 1024;

/**
 * Yields the lines of a file in batches, without line feeds. With `quoted`, as in CSV, a line feed between quotes does not end a
 * line. Holds one piece or line in memory.
 */
export async function* splitLines(
  pieces: AsyncIterable<Buffer>,
  { quoted = false } = {},
): AsyncGenerator<readonly Buffer[]> {
  let begun: Buffer[] = [];
  let size = 0;
  let inQuotes = false;
  for await (const piece of pieces) {
    const lines: Buffer[] = [];
    let start = 0;
    let nextQuote = quoted ? piece.indexOf(quote) : -1;
    const passQuotes = (end: number) => {
      for (; nextQuote >= 0 && nextQuote < end; nextQuote = piece.indexOf(quote, nextQuote + 1)) inQuotes = !inQuotes;
    };
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, end + 1)) {
      passQuotes(end);
      if (inQuotes) continue;
      const rest = piece.subarray(start, end);
      lines.push(begun.length > 0 ? Buffer.concat([...begun, rest]) : rest);
      begun = [];
      size = 0;
      start = end + 1;
    }
    passQuotes(piece.length);
    if (start < piece.length) begun.push(piece.subarray(start));
    size += piece.length - start;
    if (size > longest) throw new UnreadableError(`a row is longer than ${longest >> 20} MB`);
    yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const widest = 3;
/** A buffer of up to this many bytes is kept for reuse: enough for a megabyte of waiting text and a few more rows. */
const mostKept = 4_194_304;

/** Encodes texts to UTF-8 with a line feed after each, without joining them first. */
export function encodeLines(texts: readonly string[]): Buffer {
  return new LineEncoder().encode(texts);
}

/** Encodes lines repeatedly into the same buffer, because allocating takes longer than encoding. */
export class LineEncoder {
  #room = Buffer.alloc(0);

  /** Encodes texts with a line feed after each. The result is valid until the next call. */
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

/** Bytes to read at a time. */
export const pieceBytes = 1 << 20;

/** Yields the bytes of a file, one megabyte at a time. Does not follow a symlink. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: pieceBytes }); // closes the file
}

/** Like readPieces, but each piece uses the same buffer and is valid until the next one. For many small files. */
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

/** Yields the text of a file, decompressed according to its ending. Throws UnreadableError if that fails. */
export async function* readTextPieces(path: string): AsyncGenerator<Buffer> {
  yield* textPieces(path, readPieces(path));
}

/**
 * Like readTextPieces, but from pieces of the file that are already read. The path gives the ending. A compressed file must
 * contain exactly one compressed text, as runs write it. Otherwise throws UnreadableError, at the latest at the end of the
 * file.
 */
export async function* textPieces(path: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const compression = compressionOf(path);
  if (compression === "none") return yield* pieces;
  const text = openDecompressor(compression);
  let [bytes, textBytes, isRead, end] = [0, 0, false, Buffer.alloc(0)];
  const compressed = async function* () {
    let last: Buffer | undefined;
    for await (const piece of pieces) {
      if (last) yield last;
      else if (!isCompressed(piece, compression))
        throw new UnreadableError(`is not compressed with ${compression}, as its name says`);
      bytes += piece.length;
      end = Buffer.concat([end, piece.subarray(-4)]).subarray(-4);
      last = piece;
    }
    if (!last) throw new UnreadableError(`is empty, and not compressed with ${compression}, as its name says`);
    isRead = true;
    yield compression === "zstd" ? Buffer.concat([last, afterEnd]) : last;
  };
  pipeline(compressed(), text, () => {}); // the loop below gets the error
  try {
    for await (const piece of text) {
      textBytes += piece.length;
      yield piece;
    }
  } catch (error) {
    throw decompressionError(error);
  }
  if (!isRead || text.bytesWritten < bytes) throw new UnreadableError(trailing);
  if (text.bytesWritten > bytes) throw new UnreadableError(cut);
  if (compression === "gzip" && end.readUInt32LE() !== textBytes % 2 ** 32)
    throw new UnreadableError("holds several compressed texts, one after the other, but a run writes one");
}

/**
 * A byte appended to every zstd file that is read. Node 22 reports no error for a truncated file, but only a truncated file
 * uses this byte.
 */
const afterEnd = Buffer.of(0);

const trailing = "has something after the end of its compressed text";
const cut = "ends in the middle of its compressed text";

/** Rewords the errors of zlib and Zstandard. Returns others unchanged. */
function decompressionError(cause: unknown): unknown {
  if (!(cause instanceof Error) || !("code" in cause) || !/^(Z|ERR_Z)/.test(String(cause.code))) return cause;
  if (cause.code === "Z_BUF_ERROR") return new UnreadableError(cut, { cause });
  const isTrailing = cause.message === "incorrect header check" || cause.code === "ZSTD_error_prefix_unknown";
  return new UnreadableError(isTrailing ? trailing : "has a damaged compressed text", { cause });
}

/** The size of the collected pieces, in bytes. */
const size = 1 << 20;

/**
 * Collects small pieces into large ones, to save system calls. Every piece, received or yielded, is valid only until the next one
 * is requested: a new buffer for each would keep the garbage collector busy.
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

/** Bytes to read past a range in advance, because the next range usually follows it. */
const ahead = 65_536;
/** Maximum files to keep open. */
const most = 256;

/** A range of bytes in a file. */
interface Range {
  readonly path: string;
  readonly start: number;
  readonly bytes: number;
}

/** An open file, and the last bytes read from it. */
interface OpenFile {
  readonly file: FileHandle;
  readonly buffer: Buffer;
  start: number;
  bytes: number;
}

/** Reads ranges, such as documents, from several files in any order. Adjacent ranges of a file need few system calls. */
export class RangeReader {
  /** The open files by path, the most recently used last. */
  readonly #files = new Map<string, OpenFile>();

  /** Yields the bytes of a range in pieces. A piece is valid until the next one. Rejects if the file ends before the range. */
  async *pieces({ path, start, bytes }: Range): AsyncGenerator<Buffer> {
    const end = start + bytes;
    // Reads past the range only in a file that was already open. If there are more files than can stay open, a new one may be
    // read only once.
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
