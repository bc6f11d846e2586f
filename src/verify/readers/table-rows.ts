import { join } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type Manifest, manifestName } from "../../dump/manifest/manifest.js";
import type { DumpTable } from "../../dump/manifest/tables.js";
import type { Kind } from "../../rows/columns.js";
import { csvRows } from "./csv-rows.js";
import { jsonlRows, rowTextFromJson } from "./jsonl-rows.js";
import { type Problem, type ReadRow, type RowSource, UnreadableError } from "./row-source.js";
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

/** The rows of a table of a run folder, file after file; undefined for a format that has no reader here. */
export function tableRows(connection: Connection, folder: string, table: DumpTable): RowSource | undefined {
  const { kind, format, path: name } = table;
  const read = readers[format];
  if (!read) return undefined;
  const sources = table.files.map(({ path }) => read(connection, path, kind, join(folder, path)));
  const [only, ...others] = sources;
  return only && others.length === 0 ? only : { name, kind, read: (problem) => readAll(sources, problem) };
}

/** Sources one after the other, their rows numbered throughout; problems name the file. */
async function* readAll(sources: readonly RowSource[], problem: Problem): AsyncGenerator<Iterable<ReadRow>> {
  let before = 0;
  for (const { name, read } of sources) {
    let last = 0;
    try {
      for await (const rows of read((row, message) => problem(before + row, `(row ${row} of ${name}) ${message}`))) {
        yield (function* () {
          for (const { row, text } of rows) {
            last = row;
            yield { row: before + row, text };
          }
        })();
      }
    } catch (error) {
      throw error instanceof UnreadableError ? new UnreadableError(`${name} ${error.message}`) : error;
    }
    before += last;
  }
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
