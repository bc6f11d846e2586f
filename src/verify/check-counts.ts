import type { Kind } from "../rows/columns.js";
import { type DocumentRow, documentKey } from "../rows/document-row.js";
import { countOf } from "../words.js";
import type { Findings } from "./findings.js";
import type { Loaded, RowStore } from "./row-store.js";

/** Every document has as many chunks and child chunks as it says, and there are no rows of other documents. */
export async function checkCounts(
  store: RowStore,
  rows: ReadonlyMap<Kind, Loaded>,
  documents: readonly DocumentRow[],
  findings: Findings,
): Promise<void> {
  for (const [kind, column] of [
    ["chunks", "chunk_count"],
    ["child_chunks", "child_chunk_count"],
  ] as const) {
    const loaded = rows.get(kind);
    if (!loaded) continue;
    const counts = await countByDocument(store, loaded);
    for (const document of documents) {
      const key = documentKey(document);
      const count = counts.get(key) ?? 0;
      counts.delete(key);
      if (count === document[column]) continue;
      const message = `document ${document.document_id} has ${countOf(count, "row")}, its ${column} is ${document[column]}`;
      findings.add(loaded.source.name, "rows of documents", message);
    }
    for (const [key, count] of counts) {
      findings.add(
        loaded.source.name,
        "of no document",
        `has ${countOf(count, "row")} of document ${key}, which is not part of this run`,
      );
    }
  }
}

async function countByDocument(store: RowStore, { table }: Loaded): Promise<Map<string, number>> {
  const rows = await store.query(`SELECT dataset_id, document_id, count(*) AS count FROM ${table} GROUP BY ALL`);
  return new Map(rows.map((row) => [documentKey(row), Number(row.count)]));
}
