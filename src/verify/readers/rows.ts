import type { Kind } from "../../rows/columns.js";

/** The cells of a row as a format has them, all as text, long texts short; null where they are null. */
export type RowText = readonly (string | null)[];

/**
 * The rows of a file in their order, some at a time, each made when it is taken. An error stands for a row that is none. Throws UnreadableError
 * when there are no more to be had.
 */
export type Rows = AsyncGenerator<Iterable<RowText | RowError>>;

/** A file of rows, or a table of a database; its rows can be read any number of times. */
interface RowFile {
  readonly name: string;
  /** The dataset of all of its rows; undefined: any. */
  readonly dataset?: string | undefined;
  readonly read: () => Rows;
}

/** Rows of one kind, in one file or in several. */
export interface RowSource {
  /** As findings name all of it: `chunks.csv`. */
  readonly name: string;
  readonly kind: Kind;
  /** Undefined for rows that are in no file of their own. */
  readonly format?: string;
  readonly files: readonly RowFile[];
}

/** Why something is no row. */
export class RowError extends Error {
  override readonly name = "RowError";
}

/** A source whose rows were read and numbered throughout, and how many of them each file has. */
export interface ReadSource extends RowSource {
  readonly counts: readonly number[];
}

/** `row 3`, and of rows in several files `row 3 of <file>`. */
export function rowText(source: ReadSource, row: number): string {
  const { name, files } = source;
  return files.every((file) => file.name === name) ? `row ${row}` : rowOfFileText(source, row);
}

/** `row 3 of <file>` */
export function rowOfFileText({ name, files, counts }: ReadSource, row: number): string {
  let before = 0;
  for (const [at, file] of files.entries()) {
    const count = counts[at] ?? 0;
    if (row <= before + count) return `row ${row - before} of ${file.name}`;
    before += count;
  }
  return `row ${row} of ${name}`;
}
