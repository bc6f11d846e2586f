import type { Kind } from "../rows/columns.js";
import { placeText } from "./place-text.js";
import { type Loaded, placeColumns, type RowStore } from "./row-store.js";

/** A row of one source and the same row of another; 0 where there is none. */
export interface Pair {
  readonly wanted: number;
  readonly found: number;
  readonly place: string;
  /** There is another row with the same ids before it. */
  readonly again: boolean;
}

const hashColumn = (unguarded: boolean) => (unguarded ? "unguarded" : "hash");

/** Whether two sources have the same rows at the same places; a quick look. */
export async function samePlaces(store: RowStore, wanted: Loaded, found: Loaded, unguarded: boolean): Promise<boolean> {
  const hash = hashColumn(unguarded);
  const different = await store.query(
    `SELECT row FROM ${wanted.table} w FULL JOIN ${found.table} f USING (row) WHERE w.${hash} IS DISTINCT FROM f.${hash} LIMIT 1`,
  );
  return different.length === 0;
}

/** Makes the table of all pairs but those of the same row at the same place. */
export async function pairRows(store: RowStore, wanted: Loaded, found: Loaded, unguarded: boolean): Promise<void> {
  const ids = placeColumns.join(", ");
  const numbered = ({ table }: Loaded) =>
    `(SELECT *, row_number() OVER (PARTITION BY ${ids} ORDER BY row) AS nth FROM ${table})`;
  const same = [...placeColumns, "nth"].map((name) => `w.${name} IS NOT DISTINCT FROM f.${name}`);
  const either = placeColumns.map((name) => `coalesce(w.${name}, f.${name}) AS ${name}`);
  const hash = hashColumn(unguarded);
  await store.query(`CREATE TABLE pairs AS
    SELECT w.row AS wanted, f.row AS found, ${either.join(", ")}, f.nth > 1 AS again,
      w.${hash} IS DISTINCT FROM f.${hash} AS changed
    FROM ${numbered(wanted)} w FULL JOIN ${numbered(found)} f ON ${same.join(" AND ")}
    WHERE w.row IS DISTINCT FROM f.row OR w.${hash} IS DISTINCT FROM f.${hash}`);
}

/** How many pairs there are of which a condition holds, and the first of them. */
export async function samples(
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
    place: placeText(kind, row),
  }));
  return { pairs, count: Number(counted?.count) };
}

/** Removes the table again. */
export async function withoutPairs(store: RowStore): Promise<void> {
  await store.query("DROP TABLE pairs");
}
