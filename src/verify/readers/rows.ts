import type { Kind } from "../../rows/columns.js";

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
