import type { SqlRow } from "../duckdb/read-rows.js";
import { sqlText } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { locationText } from "./compare-rows.js";
import { type Loaded, rowText, type Tables } from "./readers/sources.js";
import { locationColumns, type RowStore } from "./row-store.js";

/**
 * Checks that no two rows have the same ids, that every child chunk has its parent in the same document, and that every row of
 * `document_info` and `document_details` is about a document of the run. If the documents of a dataset were listed (`datasets` has the
 * ids of such datasets), each must have a row in `document_info`; only a failed document of a joined dump may lack it, because its own
 * shard may not have listed it.
 */
export async function checkIds(
  store: RowStore,
  rows: Tables,
  { manifest, datasets }: { readonly manifest: Manifest; readonly datasets: readonly string[] },
): Promise<void> {
  for (const kind of ["chunks", "child_chunks", "document_info", "datasets", "document_details"] as const)
    await checkUnique(store, rows.get(kind));
  const [chunks, children] = [rows.get("chunks"), rows.get("child_chunks")];
  if (chunks && children) {
    const text = (row: SqlRow) => `in ${rowText(children, Number(row.row))} has no parent in ${chunks.name}`;
    await addRows(store, children, apart(children, chunks, "t.parent = o.id"), "without parent", text);
  }
  const documents = rows.get("documents");
  if (!documents) return;
  const listed = rows.get("document_info");
  for (const some of [listed, rows.get("document_details")]) {
    const text = (row: SqlRow) => `in row ${row.row} is not in ${documents.name}`;
    if (some) await addRows(store, some, apart(some, documents), "not read", text);
  }
  if (!listed) return;
  const failed = manifest.joined ? manifest.documents.filter(({ status }) => status === "failed") : [];
  const excused = sqlTexts(failed.map(({ document_id: id }) => id));
  const known = `SELECT dataset_id FROM ${listed.table} UNION FROM ${sqlTexts(datasets)}`;
  const missing = `(FROM ${apart(documents, listed)} WHERE dataset_id IN (${known}) AND document_id NOT IN (FROM ${excused}))`;
  await addRows(store, listed, missing, "not listed", () => "is missing, although its dataset was listed");
}

/** SQL: the rows of a table whose document has no row in another table that meets the condition. */
function apart({ table }: Loaded, others: Loaded, condition = "true"): string {
  return `(SELECT t.*, t.row AS first FROM ${table} t ANTI JOIN ${others.table} o
    ON t.dataset_id = o.dataset_id AND t.document_id = o.document_id AND ${condition})`;
}

/** SQL: a table with these texts as rows. */
function sqlTexts(texts: readonly string[]): string {
  return `(SELECT unnest([${texts.map(sqlText).join(", ")}]::VARCHAR[]))`;
}

/** Checks the counts of chunks and child chunks of every document, and that there are no rows of other documents. */
export async function checkCounts(store: RowStore, rows: Tables, documents: readonly DocumentRow[]): Promise<void> {
  for (const [kind, column] of [
    ["chunks", "chunk_count"],
    ["child_chunks", "child_chunk_count"],
  ] as const) {
    const loaded = rows.get(kind);
    if (!loaded) continue;
    const { name, table } = loaded;
    const counted = await store.query(
      `SELECT dataset_id, document_id, count(*) AS count FROM ${table} GROUP BY ALL ORDER BY min(row)`,
    );
    const counts = new Map(counted.map((row) => [documentKey(row), Number(row.count)]));
    for (const document of documents) {
      const key = documentKey(document);
      const count = counts.get(key) ?? 0;
      counts.delete(key);
      if (count === document[column]) continue;
      const message = `document ${document.document_id} has ${countOf(count, "row")}, its ${column} is ${document[column]}`;
      store.findings.add(name, "rows of documents", message);
    }
    for (const [key, count] of counts) {
      const message = `has ${countOf(count, "row")} of document ${key}, which is not part of this run`;
      store.findings.add(name, "of no document", message);
    }
  }
}

/** Checks that no two rows have the same ids. */
export async function checkUnique(store: RowStore, loaded: Loaded | undefined): Promise<void> {
  if (!loaded) return;
  const repeated = `(SELECT ${locationColumns.join(", ")}, min(row) AS first, max(row) AS last, count(*) AS times
    FROM ${loaded.table} GROUP BY ${locationColumns.join(", ")} HAVING times > 1)`;
  const rowAt = (row: unknown) => rowText(loaded, Number(row));
  const text = (row: SqlRow) => `occurs ${row.times} times, in ${rowAt(row.first)} and in ${rowAt(row.last)}`;
  await addRows(store, loaded, repeated, "not unique", text);
}

/** Adds a finding for every row of a relation that should be empty. */
async function addRows(
  store: RowStore,
  { kind, name }: Loaded,
  relation: string,
  finding: string,
  text: (row: SqlRow) => string,
): Promise<void> {
  const { rows, count } = await store.sample(relation, "first");
  const messages = rows.map((row) => `${locationText(kind, row)} ${text(row)}`);
  store.findings.addAll(name, finding, messages, count);
}
