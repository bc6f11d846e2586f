import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import { allKinds, type Kind, type PerKind } from "../../rows/columns.js";
import type { Row } from "../../rows/row.js";
import type { FileFacts } from "../files/byte-facts.js";
import type { PartFile } from "../files/join-parts.js";

/**
 * A format of the files of a dump: a folder beside this file, with one module for each direction. Each is loaded only when it
 * is needed.
 */
export interface FormatModules {
  /** Bytes to a byte of JSONL at the most, as measured with texts of several languages; absent: 1. */
  readonly size?: number;
  /** Whether the files give back exactly what the service sent; absent: always. */
  readonly isExact?: (output: { readonly csv_safe: boolean }) => boolean;
  readonly write: () => Promise<{ readonly openWriter: (options: WriterOptions) => Writer }>;
  readonly read: () => Promise<{ readonly readRows: ReadRows }>;
  readonly sql: () => Promise<{
    readonly selectRows: SelectRows;
    /** Whether a line feed between quotes ends no row. */
    readonly hasQuotedLines?: boolean;
  }>;
}

export interface WriterOptions {
  /** `output.csv_safe`. */
  readonly csvSafe: boolean;
  readonly duckDb: DuckDbOptions;
}

/** Writes the files of one format. */
export interface Writer {
  readonly format: string;
  /** Makes rows into text while the crawl goes on; absent where files are made at the end from the joined JSONL. */
  readonly text?: TextFormat;
  /** Writes and flushes the files of this format; gives those that lie in the run folder. */
  readonly finish: (rows: StagedRows) => Promise<readonly StagedFile[]>;
}

/** A text format: its rows are written while the crawl goes on, into parts that are joined at the end. */
export interface TextFormat {
  readonly format: string;
  /** The text above the rows of a file. */
  readonly head: (kind: Kind) => string;
  /** The rows as texts of one row and more; a line feed follows each text. */
  readonly texts: (kind: Kind, rows: readonly Row[]) => readonly string[];
}

/** Every row that was read, as a writer is given it. */
export interface StagedRows {
  /** The folder that becomes the run folder. */
  readonly folder: string;
  /** Text parts of one kind in the order of the job; there is none where there are no rows. */
  readonly parts: (kind: Kind, format: string) => readonly PartFile[];
  /** Rows of one kind, as counted when they were written. */
  readonly rows: (kind: Kind) => number;
  /** The joined JSONL of every kind that the dump has, from which the other formats are loaded. */
  readonly jsonl: PerKind<JoinedJsonl>;
}

/** A joined file of JSONL, with what the manifest says of it. */
export type JoinedJsonl = RowFile & FileFacts;

/** A file of the run folder, as the manifest lists it. */
export interface StagedFile {
  /** Relative to the run folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of rows, with what DuckDB needs to know to read it. */
export interface RowFile {
  readonly path: string;
  /** Bytes of the longest line; in a format with quoted line feeds, of the longest row. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds; absent where nobody looked. */
  readonly longNumbers?: boolean;
}

/**
 * SQL: the rows of a file, with the columns of its kind. JSON comes as DuckDB's type JSON, as the tables of the database have
 * it, or as VARCHAR, as Parquet has it.
 */
export type SelectRows = (kind: Kind, file: RowFile, json: "JSON" | "VARCHAR") => string;

/**
 * The rows of a file in their order, some at a time, each as one line of JSON with the columns of its kind; no number is
 * rounded. Rejects with UnreadableError, naming the row where it can, if the file is not as a run leaves it.
 */
export type ReadRows = (kind: Kind, file: RowFile, options: DuckDbOptions) => AsyncGenerator<Iterable<string>>;

/** The kinds that a dump has, in their order, each with its joined JSONL. */
export function joinedKinds({ jsonl }: Pick<StagedRows, "jsonl">): readonly (readonly [Kind, JoinedJsonl])[] {
  return allKinds.flatMap((kind) => {
    const joined = jsonl[kind];
    return joined ? [[kind, joined] as const] : [];
  });
}
