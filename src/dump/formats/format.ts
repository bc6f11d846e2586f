import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import type { FileFacts } from "../../files/byte-facts.js";
import { type Compression, compressionOf, endingOf } from "../../files/compression.js";
import type { JoinedFile, SegmentFile } from "../../files/join-segments.js";
import { type ColumnType, columns, type Kind } from "../../rows/columns.js";
import type { Row } from "../../rows/row.js";

/** A file format of a dump. Its code is in a file next to this one, loaded only when needed. */
export interface Format {
  /** Maximum bytes per byte of JSONL, measured with texts in several languages; default: 1. */
  readonly size?: number;
  /** Whether the files are text, so that `output.compress` applies; default: false. */
  readonly isText?: boolean;
  /** Whether the files reproduce exactly what the service sent; default: always. */
  readonly isExact?: (output: { readonly csv_safe: boolean }) => boolean;
  readonly load: () => Promise<FormatModule>;
}

/** The code of a format. */
interface FormatModule {
  readonly openWriter: (options: WriterOptions) => Writer;
  /** Opens the text format for the crawl; absent if the files are made at the end from the joined JSONL. */
  readonly openText?: (options: Pick<WriterOptions, "csvSafe">) => TextFormat;
  readonly readRows: ReadRows;
  readonly selectRows: SelectRows;
  /** Whether rows may contain line feeds in quotes. */
  readonly hasQuotedLines?: boolean;
}

export interface WriterOptions {
  /** The setting `output.csv_safe` of the job. */
  readonly csvSafe: boolean;
  readonly duckDb: DuckDbOptions;
}

/** Writes the files of one format. */
export interface Writer {
  readonly format: string;
  /** Converts rows to text during the crawl; absent if the files are made at the end from the joined JSONL. */
  readonly text?: TextFormat;
  /** Writes and flushes the files of this format, and returns those in the run folder. */
  readonly finish: (rows: StagedRows) => Promise<readonly StagedFile[]>;
}

/** A text format. Its rows are written during the crawl, into segments that are joined at the end. */
export interface TextFormat {
  readonly format: string;
  /** The text before the rows of a file, such as a header. */
  readonly head: (kind: Kind) => string;
  /** The rows as texts of one or more rows. A line feed follows each text. */
  readonly texts: (kind: Kind, rows: readonly Row[]) => readonly string[];
}

/** All rows of a run, as a writer gets them. */
export interface StagedRows {
  /** The folder that becomes the run folder. */
  readonly folder: string;
  /** How text files are compressed. */
  readonly compression: Compression;
  /** The tables, in the order of kinds, then of datasets. Each becomes one file per format. */
  readonly tables: readonly StagedTable[];
  /** The number of rows of one kind, counted when they were written. */
  readonly rows: (kind: Kind) => number;
  /** DuckDB instances working on these rows at the same time; default: one. */
  readonly instances?: number;
}

/** The rows of a kind, or of one kind and one dataset. */
export interface StagedTable {
  readonly kind: Kind;
  /** The dataset of the rows; undefined: all datasets. */
  readonly dataset: string | undefined;
  /** The number of rows, counted when they were written. */
  readonly rows: number;
  /** The text segments in order; empty without rows. */
  readonly segments: (format: string) => readonly SegmentFile[];
  /** The joined JSONL, from which the other formats are loaded. */
  readonly jsonl: JoinedJsonl;
}

/** A joined JSONL file: its path, and the facts of its text and of the file. */
export interface JoinedJsonl extends JoinedFile {
  readonly path: string;
}

/** A file of the run folder, as listed in the manifest. */
export interface StagedFile {
  /** The path of the file, relative to the run folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The size and hash of the text before compression; absent if the file is not compressed. */
  readonly uncompressed?: Pick<FileFacts, "bytes" | "sha256">;
}

/** Files with rows of one kind, in sequence, and what DuckDB needs to know to read them. */
export interface RowFiles {
  readonly paths: readonly string[];
  /** Bytes of the longest line, or of the longest row in a format with quoted line feeds. */
  readonly longestLine: number;
  /** Whether there may be numbers with more digits than a double holds; absent if unknown. */
  readonly longNumbers?: boolean;
}

/**
 * SQL: the rows of files, with the columns of their kind. JSON comes as DuckDB's type JSON, as in the database, or as VARCHAR, as
 * in Parquet.
 */
export type SelectRows = (kind: Kind, files: RowFiles, json: "JSON" | "VARCHAR") => string;

/**
 * Reads the rows of files in order and in batches. Each row is one line of JSON with the columns of its kind, and numbers stay
 * exact. Rejects with UnreadableError, naming the row if possible, if a file is not what a run writes.
 */
export type ReadRows = (kind: Kind, files: RowFiles, options: DuckDbOptions) => AsyncGenerator<Iterable<string>>;

/** A text file, as listed in the manifest. */
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

/** The joined JSONL of a kind, for DuckDB; undefined if the dump has none. */
export function joinedRows({ tables }: Pick<StagedRows, "tables">, kind: Kind): RowFiles | undefined {
  const files = tables
    .filter((table) => table.kind === kind)
    .map(({ jsonl }) => ({ paths: [jsonl.path], ...jsonl.text }));
  return files.length > 0 ? allFiles(files) : undefined;
}

/** Several files as one, read in sequence. */
export function allFiles(files: readonly RowFiles[]): RowFiles {
  return {
    paths: files.flatMap(({ paths }) => paths),
    longestLine: files.reduce((longest, file) => Math.max(longest, file.longestLine), 0),
    longNumbers: files.some(({ longNumbers }) => longNumbers !== false),
  };
}

/** A row as a line of JSON, from cells as text. A cell that holds JSON stays unchanged, so that numbers stay exact. */
export function jsonLine(kind: Kind, cells: readonly (string | null)[]): string {
  const members = columns[kind].map(({ name, type }, at) => `"${name}":${cellJson(type, cells[at] ?? null)}`);
  return `{${members.join(",")}}`;
}

function cellJson(type: ColumnType, cell: string | null): string {
  if (cell === null) return "null";
  if (type === "text" || type === "time" || type === "any") return JSON.stringify(cell);
  return cell.replaceAll("\n", " "); // only between values
}

/** The kinds that `output.partition: dataset` divides. The others are small. */
export const partitionedKinds: readonly Kind[] = ["chunks", "child_chunks"];

/** A file and the dataset of its rows; undefined for all datasets. */
interface NamedFile {
  readonly kind: Kind;
  readonly format: string;
  readonly dataset: string | undefined;
  readonly compression: Compression;
}

/**
 * The path of a file in a run folder: `chunks.jsonl`, `chunks.csv.gz`, or in a folder per dataset, in Hive's naming:
 * `chunks.parquet/dataset_id=<id>/part-0.parquet`.
 */
export function fileName({ kind, format, dataset, compression }: NamedFile): string {
  const ending = `${format}${endingOf(compression)}`;
  if (dataset === undefined) return `${kind}.${ending}`;
  return `${kind}.${format}/${folderName(dataset)}/part-0.${ending}`;
}

/** Maximum bytes of a file name on ext4, XFS, APFS, NTFS and others. */
const longestName = 255;

/** Whether the id of a dataset is too long for a folder name. */
export function isTooLongForFolder(dataset: string): boolean {
  return Buffer.byteLength(folderName(dataset)) > longestName;
}

/**
 * Percent-encodes ASCII characters other than letters, digits, `_`, `.` and `-`, as Hive does. Other characters stay, because
 * readers such as Spark decode a percent code as one character, never as a byte of UTF-8.
 */
function folderName(dataset: string): string {
  const code = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0");
  return `dataset_id=${dataset.replace(/[^\w.\u0080-\uffff-]/g, (character) => `%${code(character)}`)}`;
}
