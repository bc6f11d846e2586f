import { join } from "node:path";
import type { StagedFile } from "../sinks/sink.js";
import { type CheckedManifest, partsOf } from "./check-manifest.js";
import { csvRows } from "./csv-rows.js";
import { jsonlRows, rowTextFromJson } from "./jsonl-rows.js";
import { manifestName } from "./read-dump.js";
import type { RowSource } from "./row-source.js";
import { type Connection, parquetRows } from "./sql-rows.js";

/** The rows of a file of a run folder. */
export function fileRows(connection: Connection, folder: string, file: StagedFile): RowSource {
  const { kind, format } = partsOf(file);
  const path = join(folder, file.path);
  if (format === "jsonl") return jsonlRows(file.path, kind, path);
  if (format === "csv") return csvRows(file.path, kind, path);
  return parquetRows(connection, file.path, kind, path);
}

/** The documents as the manifest has them. */
export function manifestRows({ documents }: CheckedManifest): RowSource {
  return {
    name: manifestName,
    kind: "documents",
    async *read() {
      yield documents.map((row, at) => ({ row: at + 1, text: rowTextFromJson("documents", JSON.stringify(row)) }));
    },
  };
}
