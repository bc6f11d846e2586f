import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/rows-of.js";
import { documentKey } from "../rows/document-row.js";
import { countOf } from "../words.js";
import type { CheckedTable, Dump } from "./open-dump.js";

/** The ids of a document. */
interface DocumentIds {
  readonly dataset_id: string;
  readonly document_id: string;
}

/**
 * Proves that a table of DuckDB has as many rows of each of some documents as the manifest says, and no rows of others. A hash of the
 * file does not show that a reader lost some. StopError, naming a document, where the numbers differ.
 */
export async function checkRowCounts(
  connection: Connection,
  table: string,
  dump: Dump,
  { kind, path }: Pick<CheckedTable, "kind" | "path">,
  documents: readonly DocumentIds[] = dump.manifest.documents,
): Promise<void> {
  const column = kind === "chunks" ? "chunk_count" : "child_chunk_count";
  const listed = new Map(dump.manifest.documents.map((document) => [documentKey(document), document[column]]));
  const loaded = await rowsOf(
    connection,
    `SELECT dataset_id, document_id, count(*) AS rows FROM ${table} GROUP BY ALL ORDER BY document_id`,
  );
  const left = new Map(documents.map((document) => [documentKey(document), listed.get(documentKey(document)) ?? 0]));
  const refuse = (id: unknown, rows: number, expected: number) =>
    dump.unsound(`${path}: has ${countOf(rows, "row")} of document ${id}, but the manifest says ${expected}`);
  for (const row of loaded) {
    const expected = left.get(documentKey(row)) ?? 0;
    if (Number(row.rows) !== expected) throw refuse(row.document_id, Number(row.rows), expected);
    left.delete(documentKey(row));
  }
  for (const { dataset_id, document_id } of documents) {
    const expected = left.get(documentKey({ dataset_id, document_id })) ?? 0;
    if (expected > 0) throw refuse(document_id, 0, expected);
  }
}
