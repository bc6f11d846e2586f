import { join } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type Manifest, manifestName } from "../../dump/manifest/manifest.js";
import { type DumpTable, partsOf } from "../../dump/manifest/tables.js";
import type { Kind } from "../../rows/columns.js";
import { csvRows } from "./csv-rows.js";
import { jsonlRows, rowTextFromJson } from "./jsonl-rows.js";
import { partitionedRows } from "./partitioned-rows.js";
import type { RowSource } from "./row-source.js";
import { parquetRows } from "./sql-rows.js";

/** Readers of this folder alone: one that a writer shared would not see what the writer does wrong. */
const readers: Readonly<Record<string, (connection: Connection, name: string, kind: Kind, path: string) => RowSource>> =
  {
    jsonl: (_connection, name, kind, path) => jsonlRows(name, kind, path),
    csv: (_connection, name, kind, path) => csvRows(name, kind, path),
    parquet: parquetRows,
  };

/** Whether rows of this format can be read here. */
export function hasReader(format: string): boolean {
  return Object.hasOwn(readers, format);
}

/** The rows of a table of a run folder; undefined for a format that has no reader here. */
export function tableRows(connection: Connection, folder: string, table: DumpTable): RowSource | undefined {
  const { kind, format, path: name, files } = table;
  const read = readers[format];
  if (!read) return undefined;
  const sources = files.map((file) => ({
    dataset: partsOf(file).dataset,
    rows: read(connection, file.path, kind, join(folder, file.path)),
  }));
  const partitions = sources.flatMap(({ dataset, rows }) => (dataset === undefined ? [] : [{ dataset, rows }]));
  return partitions.length > 0 ? partitionedRows(name, kind, partitions) : sources[0]?.rows;
}

/** The documents as the manifest has them. */
export function manifestRows({ documents }: Manifest): RowSource {
  return {
    name: manifestName,
    kind: "documents",
    async *read() {
      yield documents.map((row, at) => ({ row: at + 1, text: rowTextFromJson("documents", JSON.stringify(row)) }));
    },
  };
}
