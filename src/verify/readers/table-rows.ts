import { join } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type DumpTable, type Manifest, manifestName, partsOf } from "../../dump/manifest.js";
import type { Kind } from "../../rows/columns.js";
import type { RowSource, Rows } from "./rows.js";
import { parquetRows, sqlRows } from "./sql-rows.js";
import { csvRows, jsonlRows, rowTextFromJson } from "./text-rows.js";

/** Readers of this folder alone: one that a writer shared would not see what the writer does wrong. */
const readers: Readonly<Record<string, (path: string, kind: Kind, connection: Connection) => Rows>> = {
  jsonl: jsonlRows,
  csv: csvRows,
  parquet: parquetRows,
};

/** Whether rows of this format can be read here. */
export function hasReader(format: string): boolean {
  return Object.hasOwn(readers, format);
}

/** The rows of a table of a run folder; undefined for a format that has no reader here. */
export function tableRows(connection: Connection, folder: string, table: DumpTable): RowSource | undefined {
  const { kind, format, path: name, files } = table;
  const reader = readers[format];
  if (!reader) return undefined;
  const rows = files.map((file) => {
    const read = () => reader(join(folder, file.path), kind, connection);
    return { name: file.path, dataset: partsOf(file).dataset, read };
  });
  return { name, kind, format, files: rows };
}

/** The documents as the manifest has them. */
export function manifestRows({ documents }: Pick<Manifest, "documents">): RowSource {
  async function* read() {
    yield documents.map((row) => rowTextFromJson("documents", JSON.stringify(row)));
  }
  return { name: manifestName, kind: "documents", files: [{ name: manifestName, read }] };
}

/** The rows of a table of a database, or of a part of it: `dump.chunks WHERE …`. */
export function databaseRows(connection: Connection, name: string, kind: Kind, table: string): RowSource {
  return { name, kind, files: [{ name, read: () => sqlRows(connection, kind, table) }] };
}
