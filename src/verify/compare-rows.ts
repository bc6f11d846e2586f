import { columns, type Kind } from "../rows/columns.js";
import { countOf } from "../words.js";
import { listedPerKind } from "./findings.js";
import { canonicalRow, RowError, type RowText, unguardedRow } from "./readers/cells.js";
import { type Loaded, rowOfFileText, rowText } from "./readers/sources.js";
import { locationColumns, type RowStore } from "./row-store.js";

interface CompareOptions {
  /** Compare without the apostrophes of `csv_safe`. */
  readonly unguarded: boolean;
  /** False: the rows may be in any order. */
  readonly ordered: boolean;
  /** False: there may be additional rows. */
  readonly exactly: boolean;
}

/**
 * Finds rows that are missing from `found` or from `wanted`, that differ, or that are in another order. Rows are
 * identified by their ids; rows with the same ids are paired in order.
 */
export async function compareRows(
  store: RowStore,
  wanted: Loaded,
  found: Loaded,
  options: CompareOptions,
): Promise<void> {
  if (options.ordered && (await sameLocations(store, wanted, found, options.unguarded))) return;
  await pairRows(store, wanted, found, options.unguarded);
  const { findings } = store;
  const { name: file, kind } = found;
  const other = wanted.name;

  const missing = await samples(store, kind, "found IS NULL", listedPerKind);
  const missingText = ({ place, wanted: row }: Pair) => `${place} is missing; it is ${rowOfFileText(wanted, row)}`;
  findings.addAll(file, "missing", missing.pairs.map(missingText), missing.count);

  const added = await samples(store, kind, options.exactly ? "wanted IS NULL" : "false", listedPerKind);
  const addedText = (pair: Pair) =>
    `${pairText(found, pair, options)} ${pair.again ? "occurs more often than in" : "is not in"} ${other}`;
  findings.addAll(file, "not in the other", added.pairs.map(addedText), added.count);

  const changed = await samples(store, kind, "wanted + found > 0 AND changed", listedPerKind);
  const changedTexts = await textsOfChanges(wanted, found, changed.pairs, options);
  findings.addAll(file, "different", changedTexts, changed.count);

  if (options.ordered && missing.count + added.count === 0) await compareOrder(store, wanted, found);
  await store.query("DROP TABLE pairs");
}

/** A pair for messages. Rows in a database have no order, so their numbers are left out. */
function pairText(source: Loaded, { found, place }: Pair, { ordered }: CompareOptions): string {
  return ordered ? `${rowText(source, found)}, ${place},` : place;
}

/** Adds one finding for all rows of a file, because one misplaced row moves all rows after it. */
async function compareOrder(store: RowStore, wanted: Loaded, found: Loaded): Promise<void> {
  const { pairs, count } = await samples(store, found.kind, "wanted <> found", 1);
  const [first] = pairs;
  if (!first) return;
  const [here, there] = [rowText(found, first.found), rowText(wanted, first.wanted)];
  const message = `${countOf(count, "row")} are in another order than in ${wanted.name}: ${here}, ${first.place}, is ${there} there`;
  store.findings.add(found.name, "order", message);
}

/** Names the columns that differ, which needs a second reading of the rows. */
async function textsOfChanges(
  wanted: Loaded,
  found: Loaded,
  pairs: readonly Pair[],
  options: CompareOptions,
): Promise<readonly string[]> {
  const those = await rowsAt(wanted, new Set(pairs.map((pair) => pair.wanted)));
  const these = await rowsAt(found, new Set(pairs.map((pair) => pair.found)));
  return pairs.map((pair) => {
    const names = differentColumns(wanted.kind, those.get(pair.wanted), these.get(pair.found), options);
    return `${pairText(found, pair, options)} differs in ${names.join(", ")} from ${rowOfFileText(wanted, pair.wanted)}`;
  });
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
  { unguarded }: CompareOptions,
): readonly string[] {
  const canonical = (row: RowText = []) => canonicalRow(kind, unguarded ? unguardedRow(row) : row);
  const [these, those] = [canonical(one), canonical(other)];
  return columns[kind].filter((_column, at) => these[at] !== those[at]).map(({ name }) => name);
}

/** A row of one source and the same row of another; 0 if there is none. */
interface Pair {
  readonly wanted: number;
  readonly found: number;
  readonly place: string;
  /** Another row with the same ids comes before it. */
  readonly again: boolean;
}

const hashColumn = (unguarded: boolean) => (unguarded ? "unguarded" : "hash");

/** Whether two sources have the same rows at the same places; a fast check. */
async function sameLocations(store: RowStore, wanted: Loaded, found: Loaded, unguarded: boolean): Promise<boolean> {
  const hash = hashColumn(unguarded);
  const different = await store.query(
    `SELECT row FROM ${wanted.table} w FULL JOIN ${found.table} f USING (row) WHERE w.${hash} IS DISTINCT FROM f.${hash} LIMIT 1`,
  );
  return different.length === 0;
}

/** Makes the table of all pairs, except of the same row at the same place. */
async function pairRows(store: RowStore, wanted: Loaded, found: Loaded, unguarded: boolean): Promise<void> {
  const ids = locationColumns.join(", ");
  const numbered = ({ table }: Loaded) =>
    `(SELECT *, row_number() OVER (PARTITION BY ${ids} ORDER BY row) AS nth FROM ${table})`;
  const same = [...locationColumns, "nth"].map((name) => `w.${name} IS NOT DISTINCT FROM f.${name}`);
  const either = locationColumns.map((name) => `coalesce(w.${name}, f.${name}) AS ${name}`);
  const hash = hashColumn(unguarded);
  await store.query(`CREATE TABLE pairs AS
    SELECT w.row AS wanted, f.row AS found, ${either.join(", ")}, f.nth > 1 AS again,
      w.${hash} IS DISTINCT FROM f.${hash} AS changed
    FROM ${numbered(wanted)} w FULL JOIN ${numbered(found)} f ON ${same.join(" AND ")}
    WHERE w.row IS DISTINCT FROM f.row OR w.${hash} IS DISTINCT FROM f.${hash}`);
}

/** The number of pairs that meet a condition, and the first of them. */
async function samples(
  store: RowStore,
  kind: Kind,
  condition: string,
  limit: number,
): Promise<{ readonly pairs: readonly Pair[]; readonly count: number }> {
  const [counted] = await store.query(`SELECT count(*) AS count FROM pairs WHERE ${condition}`);
  const rows = await store.query(`FROM pairs WHERE ${condition} ORDER BY coalesce(found, wanted) LIMIT ${limit}`);
  const pairs = rows.map((row) => ({
    wanted: Number(row.wanted),
    found: Number(row.found),
    again: row.again === true,
    place: locationText(kind, row),
  }));
  return { pairs, count: Number(counted?.count) };
}

/** `child chunk … of chunk … of document …`, for messages. The row must be from a loaded table. */
export function locationText(kind: Kind, row: Readonly<Record<string, unknown>>): string {
  const { dataset_id: dataset, document_id: document, parent, id } = row;
  switch (kind) {
    case "chunks":
      return `chunk ${id} of document ${document}`;
    case "child_chunks":
      return `child chunk ${id} of chunk ${parent} of document ${document}`;
    case "documents":
    case "document_info":
    case "document_details":
      return `document ${document} of dataset ${dataset}`;
    case "indexing_status":
      return `document ${document} of batch ${parent} at ${id}`;
    case "datasets":
      return `dataset ${dataset}`;
    case "metadata_fields":
      return `field ${id} of dataset ${dataset}`;
  }
}
