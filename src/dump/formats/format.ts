import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import type { FileFacts } from "../../files/byte-facts.js";
import { type Compression, compressionOf, endingOf } from "../../files/compression.js";
import type { JoinedFile, SegmentFile } from "../../files/join-segments.js";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import type { Row } from "../../rows/row.js";

/** A format of the files of a dump. Its code is a file beside this one, which is loaded only when it is needed. */
export interface Format {
  /** Bytes to a byte of JSONL at the most, as measured with texts of several languages; absent: 1. */
  readonly size?: number;
  /** Whether the files are text, which `output.compress` is for; absent: they are not. */
  readonly isText?: boolean;
  /** Whether the files give back exactly what the service sent; absent: always. */
  readonly isExact?: (output: { readonly csv_safe: boolean }) => boolean;
  readonly load: () => Promise<FormatModule>;
}

/** The code of a format. */
interface FormatModule {
  readonly openWriter: (options: WriterOptions) => Writer;
  /** Absent where files are made at the end from the joined JSONL. */
  readonly openText?: (options: Pick<WriterOptions, "csvSafe">) => TextFormat;
  readonly readRows: ReadRows;
  readonly selectRows: SelectRows;
  /** Whether a line feed between quotes ends no row. */
  readonly hasQuotedLines?: boolean;
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
  /** How text files are compressed. */
  readonly compression: Compression;
  /** In the order of kinds, then of datasets: each becomes one file in every format. */
  readonly tables: readonly StagedTable[];
  /** Rows of one kind, as counted when they were written. */
  readonly rows: (kind: Kind) => number;
  /** DuckDB instances that are at work on these rows at the same time; absent: one. */
  readonly instances?: number;
  /** Threads of each of them; absent: all that DuckDB works with, shared among the instances. */
  readonly threads?: number;
}

/** The rows of a kind, or of a kind and a dataset. */
export interface StagedTable {
  readonly kind: Kind;
  /** undefined: those of all datasets. */
  readonly dataset: string | undefined;
  /** As counted when they were written. */
  readonly rows: number;
  /** Text parts in their order; there is none where there are no rows. */
  readonly segments: (format: string) => readonly SegmentFile[];
  /** The joined JSONL, from which the other formats are loaded. */
  readonly jsonl: JoinedJsonl;
}

/** A joined file of JSONL: its path, the facts of its text, and those of the file. */
export interface JoinedJsonl extends JoinedFile {
  readonly path: string;
}

/** A file of the run folder, as the manifest lists it. */
export interface StagedFile {
  /** Relative to the run folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Only of a compressed file: its text. */
  readonly uncompressed?: Pick<FileFacts, "bytes" | "sha256">;
}

/** Files of rows of one kind, one after the other, with what DuckDB needs to know to read them. */
export interface RowFiles {
  readonly paths: readonly string[];
  /** Bytes of the longest line; in a format with quoted line feeds, of the longest row. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds; absent where it was not looked at. */
  readonly longNumbers?: boolean;
}

/**
 * SQL: the rows of files, with the columns of their kind. JSON comes as DuckDB's type JSON, as the tables of the database have
 * it, or as VARCHAR, as Parquet has it.
 */
export type SelectRows = (kind: Kind, files: RowFiles, json: "JSON" | "VARCHAR") => string;

/**
 * The rows of files in their order, some at a time, each as one line of JSON with the columns of their kind; no number is
 * rounded. Rejects with UnreadableError, naming the row where it can, if a file is not as a run leaves it.
 */
export type ReadRows = (kind: Kind, files: RowFiles, options: DuckDbOptions) => AsyncGenerator<Iterable<string>>;

/** A file of a text format as the manifest lists it. */
export function textFile(path: string, rows: number, { bytes, sha256, text }: JoinedFile): StagedFile {
  const isCompressed = compressionOf(path) !== "none";
  return {
    path,
    rows,
    bytes,
    sha256,
    ...(isCompressed ? { uncompressed: { bytes: text.bytes, sha256: text.sha256 } } : {}),
  };
}

/** The joined JSONL of a kind, for DuckDB; undefined where the dump has none. */
export function joinedRows({ tables }: Pick<StagedRows, "tables">, kind: Kind): RowFiles | undefined {
  const files = tables
    .filter((table) => table.kind === kind)
    .map(({ jsonl }) => ({ paths: [jsonl.path], ...jsonl.text }));
  return files.length > 0 ? allFiles(files) : undefined;
}

/** Several files as one. */
export function allFiles(files: readonly RowFiles[]): RowFiles {
  return {
    paths: files.flatMap(({ paths }) => paths),
    longestLine: files.reduce((longest, file) => Math.max(longest, file.longestLine), 0),
    longNumbers: files.some(({ longNumbers }) => longNumbers !== false),
  };
}

/** A row as a line of JSON, from its cells as text: a cell that holds JSON stays as it is, so that no number is rounded. */
export function jsonLine(kind: Kind, cells: readonly (string | null)[]): string {
  const members = columns[kind].map(({ name, type }, at) => `"${name}":${cellJson(type, cells[at] ?? null)}`);
  return `{${members.join(",")}}`;
}

function cellJson(type: ColumnType, cell: string | null): string {
  if (cell === null) return "null";
  if (type === "text" || type === "time" || type === "any") return JSON.stringify(cell);
  return cell.replaceAll("\n", " "); // only between values
}

/** The kinds whose files are divided by `output.partition: dataset`; the others are small. */
export const partitionedKinds: readonly Kind[] = ["chunks", "child_chunks"];

/** A file, and the dataset that its rows are of; undefined where it holds those of all. */
interface NamedFile {
  readonly kind: Kind;
  readonly format: string;
  readonly dataset: string | undefined;
  readonly compression: Compression;
}

/**
 * The path of a file in a run folder: `chunks.jsonl`, `chunks.csv.gz`, or in a folder for each dataset, as Hive names partitions:
 * `chunks.parquet/dataset_id=<id>/part-0.parquet`.
 */
export function fileName({ kind, format, dataset, compression }: NamedFile): string {
  const ending = `${format}${endingOf(compression)}`;
  if (dataset === undefined) return `${kind}.${ending}`;
  return `${kind}.${format}/${folderName(dataset)}/part-0.${ending}`;
}

/** Bytes of the longest name that ext4, XFS, APFS, NTFS and others take. */
const longestName = 255;

/** Whether the id of a dataset is so long that no folder can be named after it. */
export function isTooLongForFolder(dataset: string): boolean {
  return Buffer.byteLength(folderName(dataset)) > longestName;
}

/**
 * Percent signs stand for ASCII characters that are no letters, digits, `_`, `.` or `-`, as in Hive's names of folders. Other
 * characters stay: readers such as Spark take a percent sign for one character, never for a byte of UTF-8.
 */
function folderName(dataset: string): string {
  const code = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
  return `dataset_id=${dataset.replace(/[^\w.\u0080-\uffff-]/g, (character) => `%${code(character)}`)}`;
}
