import { join } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { type DumpTable, type Manifest, manifestName, partsOf } from "../../dump/manifest.js";
import type { Kind } from "../../rows/columns.js";
import { isShortened, shortText, unguardedText } from "./cells.js";
import { type FileOfRows, type Problem, type ReadRow, type RowSource, UnreadableError } from "./rows.js";
import { parquetRows } from "./sql-rows.js";
import { csvRows, jsonlRows, rowTextFromJson } from "./text-rows.js";

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

/** A file of the rows of one dataset. */
interface Partition {
  readonly dataset: string;
  readonly rows: RowSource;
}

/**
 * The rows of a kind that lie in a file for each dataset, file after file and numbered throughout. A row of another dataset is a
 * problem, and so is a document that stands behind one with a larger id.
 */
function partitionedRows(name: string, kind: Kind, partitions: readonly Partition[]): RowSource {
  let files: readonly (FileOfRows & { rows: number })[] = [];
  async function* read(problem: Problem): AsyncGenerator<Iterable<ReadRow>> {
    files = partitions.map(({ rows }) => ({ name: rows.name, rows: 0 }));
    let before = 0;
    for (const [at, { dataset, rows }] of partitions.entries()) {
      const counted = files[at] ?? { name, rows: 0 };
      const start = before;
      const report: Problem = (row, message, kind) => {
        counted.rows = Math.max(counted.rows, row);
        problem(start + row, message, kind);
      };
      const check = locationCheck(dataset, report);
      try {
        for await (const some of rows.read(report)) {
          yield (function* () {
            for (const { row, text } of some) {
              counted.rows = row;
              if (text) check(row, text);
              yield { row: start + row, text };
            }
          })();
        }
      } catch (error) {
        throw error instanceof UnreadableError ? new UnreadableError(error.message, rows.name) : error;
      }
      before += counted.rows;
    }
  }
  return { name, kind, read, files: () => files };
}

/** Checks that rows are of a dataset, and that their documents stand by their ids. */
function locationCheck(dataset: string, report: Problem): (row: number, cells: readonly (string | null)[]) => void {
  const named = shortText(dataset);
  let last = "";
  return (row, [its, id]) => {
    if (its != null && its !== named && unguardedText(its) !== named)
      return report(row, `is of dataset ${its}, and lies in the partition of another`, "in another partition");
    if (id == null || isShortened(id)) return;
    if (id < last) report(row, `is of document ${id}, which belongs before document ${last}`, "order of documents");
    last = id;
  };
}
