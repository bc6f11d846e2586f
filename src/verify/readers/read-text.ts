import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import type { Kind } from "../../rows/columns.js";

/** The bytes of a file. A symlink is not followed. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  yield* file.createReadStream({ highWaterMark: 1 << 18 }); // closes the file
}

/**
 * The bytes of the text in a file, which is compressed if its name ends in `.gz` or `.zst`. UnreadableError, at its end at the
 * latest, when the file is anything but one whole compressed text. StopError where this Node has no Zstandard.
 */
export async function* readText(path: string): AsyncGenerator<Buffer> {
  const compressed = compressions.find(({ ending }) => path.endsWith(ending));
  if (compressed) yield* decompressed(path, compressed);
  else yield* readPieces(path);
}

interface Compressed {
  readonly ending: string;
  readonly name: string;
  /** The bytes that every such file begins with. */
  readonly magic: Buffer;
  readonly open: (options: { readonly chunkSize: number }) => Transform & { readonly bytesWritten: number };
}

/** The magic numbers are those of RFC 1952, section 2.3.1, and of RFC 8878, section 3.1.1. */
const compressions: readonly Compressed[] = [
  { ending: ".gz", name: "gzip", magic: Buffer.from("1f8b", "hex"), open: zlib.createGunzip },
  { ending: ".zst", name: "zstd", magic: Buffer.from("28b52ffd", "hex"), open: zlib.createZstdDecompress },
];

async function* decompressed(path: string, { name, magic, open }: Compressed): AsyncGenerator<Buffer> {
  const text = open({ chunkSize: 1 << 18 });
  let [bytes, textBytes, isRead, end] = [0, 0, false, Buffer.alloc(0)];
  async function* pieces() {
    for await (const piece of readPieces(path)) {
      if (bytes === 0 && !piece.subarray(0, magic.length).equals(magic))
        throw new UnreadableError(`is not compressed with ${name}, as its name says`);
      bytes += piece.length;
      end = Buffer.concat([end, piece.subarray(-4)]).subarray(-4);
      yield piece;
    }
    isRead = true;
  }
  pipeline(pieces(), text, () => {}); // an error comes out below
  try {
    for await (const piece of text) {
      textBytes += piece.length;
      yield piece;
    }
  } catch (error) {
    throw plainError(error);
  }
  if (!isRead || text.bytesWritten < bytes) throw new UnreadableError(somethingBehind);
  if (name === "gzip" && end.readUInt32LE() !== textBytes % 2 ** 32)
    throw new UnreadableError("holds several compressed texts, one behind the other, where a run writes one");
}

const somethingBehind = "has something behind the end of its compressed text";

/** The errors of zlib and Zstandard in words; any other as it is. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !/^(Z|ERR_Z)/.test(String(error.code))) return error;
  if (error.code === "Z_BUF_ERROR") return new UnreadableError("ends in the middle of its compressed text");
  const isBehind = error.message === "incorrect header check" || error.code === "ZSTD_error_prefix_unknown";
  return new UnreadableError(isBehind ? somethingBehind : "has a damaged compressed text");
}

/** The cells of a row as a format has them, all as text, those of text columns short; null where they are null. */
export type RowText = readonly (string | null)[];

/** A row and where it stands, from 1. Undefined is what turned out to be no row. */
export interface ReadRow {
  readonly row: number;
  readonly text: RowText | undefined;
}

/** Called with a row that is not as it should be, and why; `kind` says in a word or two what is wrong, as findings are counted by. */
export type Problem = (row: number, message: string, kind?: string) => void;

/** Rows of one kind, wherever they lie; they can be read any number of times. */
export interface RowSource {
  /** As findings name it: `chunks.csv`. */
  readonly name: string;
  readonly kind: Kind;
  /** The rows in their order, some at a time, each made when it is taken. Throws UnreadableError when there is no going on. */
  readonly read: (problem: Problem) => AsyncGenerator<Iterable<ReadRow>>;
  /** The files that the rows come from, in their order, as far as they were read; absent: the one file of that name. */
  readonly files?: () => readonly FileOfRows[];
}

/** A file of several, and how many rows were read of it. */
export interface FileOfRows {
  readonly name: string;
  readonly rows: number;
}

/** The file of a row, and its number in that file. */
export function locationOfRow(
  { name, files }: Pick<RowSource, "name" | "files">,
  row: number,
): { readonly name: string; readonly row: number } {
  let before = 0;
  for (const file of files?.() ?? []) {
    if (row <= before + file.rows) return { name: file.name, row: row - before };
    before += file.rows;
  }
  return { name, row };
}

/** `row 3`, and of rows in several files `row 3 of <file>`. */
export function rowText(source: Pick<RowSource, "name" | "files">, row: number): string {
  return source.files ? rowOfFileText(source, row) : `row ${row}`;
}

/** `row 3 of <file>` */
export function rowOfFileText(source: Pick<RowSource, "name" | "files">, row: number): string {
  const place = locationOfRow(source, row);
  return `row ${place.row} of ${place.name}`;
}

/** A file that cannot be read as what it should be, from some place on; `file` names it where it is one of several. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
  readonly file: string | undefined;

  constructor(message: string, file?: string) {
    super(message);
    this.file = file;
  }
}

/** Why something is no row. */
export class RowError extends Error {
  override readonly name = "RowError";
}
