import { sqlText } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import type { Kind } from "../rows/columns.js";
import { type DocumentRow, documentKey } from "../rows/row.js";
import { countOf } from "../words.js";
import { locationText } from "./compare-rows.js";
import { listedPerKind } from "./findings.js";
import { rowText } from "./readers/rows.js";
import { type Loaded, locationColumns, type RowStore } from "./row-store.js";

/** Chunks are unique in their document, child chunks in their parent; every child chunk has its parent in its document. */
export async function checkIds(store: RowStore, rows: ReadonlyMap<Kind, Loaded>): Promise<void> {
  const chunks = rows.get("chunks");
  const children = rows.get("child_chunks");
  if (chunks) await checkUnique(store, chunks);
  if (children) await checkUnique(store, children);
  if (chunks && children) await checkParents(store, children, chunks);
}

/**
 * Every document that was listed is one of the run, once, and every document of a dataset that was listed has its row. In a joined dump,
 * one that failed may have none: its own shard did not list it. `datasets`: the ids of those that were listed.
 */
export async function checkListed(
  store: RowStore,
  rows: ReadonlyMap<Kind, Loaded>,
  {
    manifest,
    datasets,
  }: { readonly manifest: Pick<Manifest, "documents" | "joined">; readonly datasets: readonly string[] },
): Promise<void> {
  const [listed, documents] = [rows.get("document_info"), rows.get("documents")];
  if (listed) await checkUnique(store, listed);
  if (!listed || !documents) return;
  const apart = (rows: Loaded, others: Loaded, where: string) =>
    `(SELECT t.*, t.row AS first FROM ${rows.table} t ANTI JOIN ${others.table} o USING (dataset_id, document_id) ${where})`;
  const unread = apart(listed, documents, "");
  const text = (row: Relation) => `in row ${row.row} is not in ${documents.source.name}`;
  await addRows(store, listed, unread, "not read", text);
  const failed = manifest.joined ? manifest.documents.filter(({ status }) => status === "failed") : [];
  const isExcused = `[${failed.map(({ document_id: id }) => sqlText(id)).join(", ")}]::VARCHAR[]`;
  const known = `SELECT dataset_id FROM ${listed.table} UNION SELECT unnest([${datasets.map(sqlText).join(", ")}]::VARCHAR[])`;
  const isListed = `dataset_id IN (${known})`;
  const unlisted = apart(documents, listed, `WHERE ${isListed} AND document_id NOT IN (SELECT unnest(${isExcused}))`);
  const missing = () => "is missing, although its dataset was listed";
  await addRows(store, listed, unlisted, "not listed", missing);
}

/** The details are of datasets and documents of the run, one row for each. */
export async function checkDetails(store: RowStore, rows: ReadonlyMap<Kind, Loaded>): Promise<void> {
  for (const kind of ["datasets", "document_details"] as const) {
    const loaded = rows.get(kind);
    if (loaded) await checkUnique(store, loaded);
  }
  const [details, documents] = [rows.get("document_details"), rows.get("documents")];
  if (!details || !documents) return;
  const strangers = `(SELECT t.*, t.row AS first FROM ${details.table} t ANTI JOIN ${documents.table} USING (dataset_id, document_id))`;
  const text = (row: Relation) => `in row ${row.row} is not in ${documents.source.name}`;
  await addRows(store, details, strangers, "not read", text);
}

/** Every document has as many chunks and child chunks as it says, and there are no rows of other documents. */
export async function checkCounts(
  store: RowStore,
  rows: ReadonlyMap<Kind, Loaded>,
  documents: readonly DocumentRow[],
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
      store.findings.add(loaded.source.name, "rows of documents", message);
    }
    for (const [key, count] of counts) {
      store.findings.add(
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

/** No two rows have the same ids. */
export async function checkUnique(store: RowStore, loaded: Loaded): Promise<void> {
  const repeated = `(SELECT ${locationColumns.join(", ")}, min(row) AS first, max(row) AS last, count(*) AS times
    FROM ${loaded.table} GROUP BY ${locationColumns.join(", ")} HAVING times > 1)`;
  const rowAt = (row: unknown) => rowText(loaded.source, Number(row));
  const text = (row: Relation) => `occurs ${row.times} times, in ${rowAt(row.first)} and in ${rowAt(row.last)}`;
  await addRows(store, loaded, repeated, "not unique", text);
}

async function checkParents(store: RowStore, children: Loaded, chunks: Loaded): Promise<void> {
  const orphans = `(SELECT k.*, k.row AS first FROM ${children.table} k ANTI JOIN ${chunks.table} c
    ON k.dataset_id = c.dataset_id AND k.document_id = c.document_id AND k.parent = c.id)`;
  const text = (row: Relation) =>
    `in ${rowText(children.source, Number(row.row))} has no parent in ${chunks.source.name}`;
  await addRows(store, children, orphans, "without parent", text);
}

type Relation = Readonly<Record<string, unknown>>;

/** A finding for every row of a relation that should have none. */
async function addRows(
  store: RowStore,
  { source }: Loaded,
  relation: string,
  kind: string,
  text: (row: Relation) => string,
): Promise<void> {
  const [counted] = await store.query(`SELECT count(*) AS count FROM ${relation}`);
  const count = Number(counted?.count);
  if (count === 0) return;
  const rows = await store.query(`FROM ${relation} ORDER BY first LIMIT ${listedPerKind}`);
  const messages = rows.map((row) => `${locationText(source.kind, row)} ${text(row)}`);
  store.findings.addAll(source.name, kind, messages, count);
}
