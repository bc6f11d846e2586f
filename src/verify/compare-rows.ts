import type { SqlRow } from "../duckdb/read-rows.js";
import { columns, type Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import { canonicalRow, RowError, type RowText, unguardedRow } from "./readers/canonical-cells.js";
import { type Loaded, rowOfFileText, rowText } from "./readers/sources.js";
import { locationColumns, type RowStore } from "./row-store.js";

/**
 * Finds rows that are missing from `found` or from `wanted`, that differ, or that are in another order. Rows are identified by
 * their ids; rows with the same ids are paired in order. In a database, the order does not count, and further readings are no finding,
 * because `kbdump status` may have added them. Apostrophes of `csv_safe` are ignored.
 */
export async function compareRows(store: RowStore, wanted: Loaded, found: Loaded): Promise<void> {
  const { findings } = store;
  const { name: file, kind } = found;
  const isOrdered = found.format !== "duckdb";
  const unguarded = store.unguarded && [wanted, found].some(({ format }) => format === "csv");
  const hash = unguarded ? "unguarded" : "hash";
  if (isOrdered && (await sameLocations(store, wanted, found, hash))) return;
  await pairRows(store, wanted, found, hash);
  const textOf = (pair: Pair) => (isOrdered ? `${rowText(found, pair.found)}, ${pair.place},` : pair.place);

  const missing = await samples(store, kind, "found IS NULL");
  const missingText = ({ place, wanted: row }: Pair) => `${place} is missing; it is ${rowOfFileText(wanted, row)}`;
  findings.addAll(file, "missing", missing.pairs.map(missingText), missing.count);

  const mayHaveMore = !isOrdered && kind === "indexing_status";
  const added = await samples(store, kind, mayHaveMore ? "false" : "wanted IS NULL");
  const addedText = (pair: Pair) =>
    `${textOf(pair)} ${pair.again ? "occurs more often than in" : "is not in"} ${wanted.name}`;
  findings.addAll(file, "not in the other", added.pairs.map(addedText), added.count);

  const changed = await samples(store, kind, "wanted + found > 0 AND changed");
  const those = await rowsAt(wanted, new Set(changed.pairs.map((pair) => pair.wanted))); // read the files again, for the columns
  const these = await rowsAt(found, new Set(changed.pairs.map((pair) => pair.found)));
  const changedText = (pair: Pair) => {
    const names = differentColumns(kind, those.get(pair.wanted), these.get(pair.found), unguarded);
    return `${textOf(pair)} differs in ${names.join(", ")} from ${rowOfFileText(wanted, pair.wanted)}`;
  };
  findings.addAll(file, "different", changed.pairs.map(changedText), changed.count);

  if (isOrdered && missing.count + added.count === 0) await compareOrder(store, wanted, found);
  await store.query("DROP TABLE pairs");
}

/** Adds one finding for all rows of a file, because one misplaced row moves all rows after it. */
async function compareOrder(store: RowStore, wanted: Loaded, found: Loaded): Promise<void> {
  const { pairs, count } = await samples(store, found.kind, "wanted <> found");
  const [first] = pairs;
  if (!first) return;
  const [here, there] = [rowText(found, first.found), rowText(wanted, first.wanted)];
  const message = `${countOf(count, "row")} are in another order than in ${wanted.name}: ${here}, ${first.place}, is ${there} there`;
  store.findings.add(found.name, "order", message);
}

async function rowsAt({ files, counts }: Loaded, numbers: ReadonlySet<number>): Promise<ReadonlyMap<number, RowText>> {
  const found = new Map<number, RowText>();
  let before = 0;
  for (const [at, { read }] of files.entries()) {
    if (found.size === numbers.size) break;
    let number = before;
    for await (const rows of read(true)) {
      for (const row of rows) if (numbers.has(++number) && !(row instanceof RowError)) found.set(number, row);
      if (found.size === numbers.size) break;
    }
    before += counts[at] ?? 0;
  }
  return found;
}

function differentColumns(
  kind: Kind,
  one: RowText | undefined,
  other: RowText | undefined,
  unguarded: boolean,
): readonly string[] {
  const canonical = (row: RowText = []) => canonicalRow(kind, unguarded ? unguardedRow(row) : row);
  const [these, those] = [canonical(one), canonical(other)];
  return columns[kind].filter((_column, at) => these[at] !== those[at]).map(({ name }) => name);
}

/** The numbers of a row in both sources, from 1; 0 if a source lacks the row. */
interface Pair {
  readonly wanted: number;
  readonly found: number;
  readonly place: string;
  /** Whether `found` has an earlier row with the same ids. */
  readonly again: boolean;
}

/** Whether two sources have the same rows in the same order. Fast, so it comes before the detailed comparison. */
async function sameLocations(store: RowStore, wanted: Loaded, found: Loaded, hash: string): Promise<boolean> {
  const different = await store.query(
    `SELECT row FROM ${wanted.table} w FULL JOIN ${found.table} f USING (row) WHERE w.${hash} IS DISTINCT FROM f.${hash} LIMIT 1`,
  );
  return different.length === 0;
}

/** Makes the table `pairs`. Leaves out rows that are equal and at the same place in both sources, which are most. */
async function pairRows(store: RowStore, wanted: Loaded, found: Loaded, hash: string): Promise<void> {
  const ids = locationColumns.join(", ");
  const numbered = ({ table }: Loaded) =>
    `(SELECT *, row_number() OVER (PARTITION BY ${ids} ORDER BY row) AS nth FROM ${table})`;
  const same = [...locationColumns, "nth"].map((name) => `w.${name} IS NOT DISTINCT FROM f.${name}`);
  const either = locationColumns.map((name) => `coalesce(w.${name}, f.${name}) AS ${name}`);
  await store.query(`CREATE TABLE pairs AS
    SELECT w.row AS wanted, f.row AS found, ${either.join(", ")}, f.nth > 1 AS again,
      w.${hash} IS DISTINCT FROM f.${hash} AS changed
    FROM ${numbered(wanted)} w FULL JOIN ${numbered(found)} f ON ${same.join(" AND ")}
    WHERE w.row IS DISTINCT FROM f.row OR w.${hash} IS DISTINCT FROM f.${hash}`);
}

/** The number of pairs that meet a condition, and the first of them. */
async function samples(store: RowStore, kind: Kind, condition: string) {
  const { rows, count } = await store.sample(`pairs WHERE ${condition}`, "coalesce(found, wanted)");
  const pairs = rows.map((row): Pair => {
    const [wanted, found] = [Number(row.wanted), Number(row.found)];
    return { wanted, found, again: row.again === true, place: locationText(kind, row) };
  });
  return { pairs, count };
}

/** `child chunk … of chunk … of document …`, for messages. The row must be from a loaded table. */
export function locationText(kind: Kind, { dataset_id, document_id, parent, id }: SqlRow): string {
  const document = `document ${document_id}`;
  const dataset = `dataset ${dataset_id}`;
  const texts: Readonly<Record<Kind, string>> = {
    chunks: `chunk ${id} of ${document}`,
    child_chunks: `child chunk ${id} of chunk ${parent} of ${document}`,
    documents: `${document} of ${dataset}`,
    document_info: `${document} of ${dataset}`,
    document_details: `${document} of ${dataset}`,
    indexing_status: `${document} of batch ${parent} at ${id}`,
    datasets: dataset,
    metadata_fields: `field ${id} of ${dataset}`,
  };
  return texts[kind];
}
