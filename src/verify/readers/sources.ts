import { join } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type DumpTable, type Manifest, manifestName, partsOf } from "../../dump/manifest.js";
import type { Kind } from "../../rows/columns.js";
import type { Rows } from "./canonical-cells.js";
import { parquetRows, sqlRows } from "./sql-rows.js";
import { csvRows, jsonlRows, rowTextFromJson } from "./text-rows.js";

/** A file of rows, or a table of a database; its rows can be read repeatedly. */
interface RowFile {
  readonly name: string;
  /** The dataset that all its rows belong to; undefined for rows of several datasets. */
  readonly dataset?: string | undefined;
  /** `isCompared`: whether rows are compared. If so, long texts get the form that is the same for every format. */
  readonly read: (isCompared: boolean) => Rows;
}

/** Rows of one kind, in one or more files. */
export interface RowSource {
  /** Its name in findings: `chunks.csv`. */
  readonly name: string;
  readonly kind: Kind;
  /** The format of the files, or duckdb for a table of a database; undefined for the documents in the manifest. */
  readonly format?: string;
  readonly files: readonly RowFile[];
  /** About how many bytes a row takes, to show the progress of reading. */
  readonly bytesPerRow?: number;
}

type Reader = (path: string, kind: Kind, connection: Connection, isCompared: boolean) => Rows;

/** Separate readers for verification: readers shared with the writer could hide its mistakes. */
export const readers = new Map<string, Reader>([
  ["jsonl", jsonlRows],
  ["csv", csvRows],
  ["parquet", parquetRows],
]);

/** The rows of a table of a run folder; undefined for a format without a reader. */
export function tableRows(connection: Connection, folder: string, table: DumpTable): RowSource | undefined {
  const { kind, format, path: name, files } = table;
  const reader = readers.get(format);
  if (!reader) return undefined;
  const rows = files.map((file) => {
    const read = (isCompared: boolean) => reader(join(folder, file.path), kind, connection, isCompared);
    return { name: file.path, dataset: partsOf(file).dataset, read };
  });
  return { name, kind, format, files: rows, bytesPerRow: table.bytes / Math.max(table.rows, 1) };
}

/** The documents in the manifest. */
export function manifestRows({ documents }: Pick<Manifest, "documents">): RowSource {
  async function* read() {
    yield documents.map((row) => rowTextFromJson("documents", JSON.stringify(row)));
  }
  return { name: manifestName, kind: "documents", files: [{ name: manifestName, read }] };
}

/** The rows of a database table, or of a part of it: `dump.chunks WHERE …`. */
export function databaseRows(connection: Connection, name: string, kind: Kind, table: string): RowSource {
  return { name, kind, format: "duckdb", files: [{ name, read: () => sqlRows(connection, kind, table) }] };
}

/** A source's rows in a table of a row store: only their ids and hashes. */
export interface Loaded extends RowSource {
  readonly table: string;
  /** How many rows were read, including unreadable ones. */
  readonly rows: number;
  /** How many rows each file has. */
  readonly counts: readonly number[];
}

/** The loaded rows of each kind. */
export type Tables = ReadonlyMap<Kind, Loaded>;

/** `row 3`, or for several files `row 3 of <file>`. */
export function rowText(source: Loaded, row: number): string {
  const { name, files } = source;
  return files.every((file) => file.name === name) ? `row ${row}` : rowOfFileText(source, row);
}

/** `row 3 of <file>` */
export function rowOfFileText({ name, files, counts }: Loaded, row: number): string {
  let before = 0;
  for (const [at, file] of files.entries()) {
    const count = counts[at] ?? 0;
    if (row <= before + count) return `row ${row - before} of ${file.name}`;
    before += count;
  }
  return `row ${row} of ${name}`;
}
