import type { Connection } from "../../duckdb/open-duckdb.js";
import { loadList } from "../../dump/load.js";
import { childFromJson, chunkFromJson, type DocumentId } from "../document-rows.js";
import { rowJson } from "../load-document-rows.js";

/** A document of a dump, and the document at the service to compare it with: the same one, or its copy. */
export interface LivePair {
  readonly old: DocumentId;
  readonly live: DocumentId;
}

/** A row of one document, paired with a row of the other; null without a partner. */
export interface RowPair<Row> {
  readonly old: Row | null;
  readonly live: Row | null;
  /** Both rows exist, but their order changed relative to other pairs. */
  readonly isMoved: boolean;
}

interface PairOptions {
  /**
   * `id`: pairs rows with the same id. `text`: pairs rows with the same text in order, then unpaired rows at the same place with different
   * texts. Child chunks are then paired only within paired chunks.
   */
  readonly by: "id" | "text";
  /** Ids of rows whose pairs are read even if they are equal. */
  readonly kept?: Iterable<string>;
  /** Ids of chunks of the old document whose child chunks are not paired. */
  readonly without?: Iterable<string>;
}

/**
 * Pairs the rows of documents in the tables that `loadDocumentRows` made with the names `old` and `live`. Returns a function that
 * reads the pairs of the document pair with this number: only pairs that differ, moved, or may hide a difference. They are in the
 * order of the old document, followed by rows of the live one without a partner. Texts stay in DuckDB, so memory does not grow with
 * a document. Each document is in one pair only.
 */
export async function pairForProof(
  connection: Connection,
  documents: readonly LivePair[],
  { by, kept = [], without = [] }: PairOptions,
) {
  const numbered = documents.map(({ old, live }, nr) => ({
    ...{ nr, old_dataset: old.dataset_id, old_document: old.document_id },
    ...{ live_dataset: live.dataset_id, live_document: live.document_id },
  }));
  const text = "VARCHAR";
  const columns = { nr: "INTEGER", old_dataset: text, old_document: text, live_dataset: text, live_document: text };
  await loadList(connection, "document_pairs", numbered, columns);
  const rowsOf = (ids: Iterable<string>) => [...ids].map((id) => ({ id }));
  await loadList(connection, "kept_rows", rowsOf(kept), { id: text });
  await loadList(connection, "childless_rows", rowsOf(without), { id: text });
  await pairKind(connection, "chunks", by);
  await pairKind(connection, "child_chunks", by);
  const chunks = await readerOf(connection, "chunks", chunkFromJson);
  const children = await readerOf(connection, "child_chunks", childFromJson);
  return (nr: number) => ({ chunks: chunks(nr), children: children(nr) });
}

type RowKind = "chunks" | "child_chunks";
type Side = "old" | "live";

/** The columns to compare. */
const compared = {
  chunks: ["content", "answer", "keywords", "enabled", "status", "attachments"],
  child_chunks: ["content", "type"],
};
/** Compared only if rows are paired by id: a copy has its own ids, and positions without gaps. */
const comparedById = { chunks: ["position"], child_chunks: ["segment_id", "position"] };

/** Makes `<kind>_pairs`: the paired rows of both sides, by their row numbers. `grp`: see `groupedRows`. */
async function pairKind(connection: Connection, kind: RowKind, by: PairOptions["by"]): Promise<void> {
  for (const side of ["old", "live"] as const)
    await connection.run(`CREATE OR REPLACE TABLE ${side}_ranked AS SELECT *,
        row_number() OVER (PARTITION BY grp ORDER BY row) AS place, row_number() OVER (PARTITION BY grp, key ORDER BY row) AS k
      FROM (SELECT nr, grp, row, id, ${by === "id" ? "id" : textKey(kind)} AS key, ${valueHash(kind, by)} AS value,
        ${kind === "chunks" ? isUnsure : "false"} AS unsure FROM ${groupedRows(kind, side, by)})`);
  await connection.run(`CREATE OR REPLACE TABLE by_key AS SELECT coalesce(o.nr, l.nr) AS nr, coalesce(o.grp, l.grp) AS grp,
      o.row AS old, l.row AS live, o.place AS old_place, l.place AS live_place, coalesce(o.id, l.id) AS id,
      l.unsure OR o.value IS DISTINCT FROM l.value AS differs
    FROM old_ranked o FULL JOIN live_ranked l ON o.grp = l.grp AND o.key = l.key AND o.k = l.k`);
  await connection.run(`CREATE OR REPLACE TABLE by_place AS
    SELECT o.nr, o.grp, o.old, l.live, o.old_place, l.live_place, o.id, true AS differs FROM by_key o JOIN by_key l
    ON o.grp = l.grp AND o.old_place = l.live_place AND o.live IS NULL AND l.old IS NULL AND ${by === "text"}`);
  await connection.run(`CREATE OR REPLACE TABLE ${kind}_pairs AS SELECT *, false AS moved FROM by_place
    UNION ALL SELECT *, false FROM by_key WHERE NOT (live IS NULL AND old IN (SELECT old FROM by_place))
      AND NOT (old IS NULL AND live IN (SELECT live FROM by_place))`);
  if (by === "text") await markMoved(connection, `${kind}_pairs`);
}

/**
 * SQL: the rows of a side, with the number of their document pair and their group. Rows are paired within a group: the document, or, for
 * child chunks paired by text, the chunk.
 */
function groupedRows(kind: RowKind, side: Side, by: PairOptions["by"]): string {
  const own = `SELECT nr, c.* FROM ${side}_${kind} c JOIN document_pairs p
    ON c.dataset_id = p.${side}_dataset AND c.document_id = p.${side}_document`;
  if (by === "id" || kind === "chunks") return `(SELECT *, nr AS grp FROM (${own}))`;
  const parents = `SELECT p.nr, t.id, p.old FROM chunks_pairs p JOIN ${side}_chunks t ON t.row = p.${side}
    WHERE p.old IS NOT NULL AND p.live IS NOT NULL AND p.id NOT IN (SELECT id FROM childless_rows)`;
  return `(SELECT c.*, parent.old AS grp FROM (${own}) c JOIN (${parents}) parent ON c.nr = parent.nr AND c.segment_id = parent.id)`;
}

/** SQL: whether a chunk is read although it equals its partner: it may be unindexed, or its attachments may be other files by now. */
const isUnsure = "status IS DISTINCT FROM 'completed' OR coalesce(attachments, '[]') <> '[]'";

/** SQL: the text as a key. A missing answer equals an empty one, because services send either. */
function textKey(kind: RowKind): string {
  const texts = kind === "chunks" ? "[sha256(content), sha256(coalesce(answer, ''))]" : "[sha256(content)]";
  return `left(sha256(to_json(${texts})::VARCHAR), 32)::UUID`;
}

/**
 * SQL: a hash of the compared columns, so that texts are not joined. Long texts are hashed first: DuckDB handles 2,048 rows at a
 * time, and JSON of their texts would make two more copies.
 */
function valueHash(kind: RowKind, by: PairOptions["by"]): string {
  const value = (name: string) => (name === "content" || name === "answer" ? `sha256(${name})` : name);
  const names = [...compared[kind], ...(by === "id" ? comparedById[kind] : [])];
  const values = names.map((name) => `'${name}': ${value(name)}`).join(", ");
  return `left(sha256(to_json({${values}})::VARCHAR), 32)::UUID`;
}

/**
 * Marks moved pairs in each group, so that all others are in order. Either every pair that moved ahead of an earlier one is marked,
 * or every pair that moved behind a later one, whichever are fewer. So if one row changes its place, only this row is marked.
 */
async function markMoved(connection: Connection, table: string): Promise<void> {
  const rows = (between: string) => `(PARTITION BY grp ORDER BY old_place ROWS BETWEEN ${between})`;
  await connection.run(`UPDATE ${table} SET moved = true WHERE old IN (SELECT old FROM (
      SELECT *, count(*) FILTER (back) OVER (PARTITION BY grp) AS backs, count(*) FILTER (ahead) OVER (PARTITION BY grp) AS aheads
      FROM (SELECT grp, old, live_place < max(live_place) OVER ${rows("UNBOUNDED PRECEDING AND 1 PRECEDING")} AS back,
          live_place > min(live_place) OVER ${rows("1 FOLLOWING AND UNBOUNDED FOLLOWING")} AS ahead
        FROM ${table} WHERE old IS NOT NULL AND live IS NOT NULL)
    ) WHERE CASE WHEN backs < aheads THEN back ELSE ahead END)`);
}

const pairsAtOnce = 500;

/** Makes `<kind>_differing`, and returns a function that reads it. */
async function readerOf<Row>(connection: Connection, kind: RowKind, fromJson: (json: string) => Row) {
  await connection.run(`CREATE OR REPLACE TABLE ${kind}_differing AS
    SELECT nr, old, live, moved, row_number() OVER (ORDER BY nr, old NULLS LAST, live) AS place FROM ${kind}_pairs
    WHERE old IS NULL OR live IS NULL OR moved OR differs OR id IN (SELECT id FROM kept_rows)`);
  const ranges = await connection.runAndReadAll(
    `SELECT nr, min(place)::DOUBLE, max(place)::DOUBLE FROM ${kind}_differing GROUP BY nr`,
  );
  const rangeOf = new Map(ranges.getRowsJson().map(([nr, first, last]) => [Number(nr), [Number(first), Number(last)]]));
  const rowsOf = async (side: Side, rows: readonly unknown[]): Promise<ReadonlyMap<unknown, Row>> => {
    const list = rows.filter((row) => row !== null).join(", ") || "NULL";
    const sql = `SELECT row::DOUBLE, ${rowJson(kind)} FROM ${side}_${kind} WHERE row IN (${list})`;
    const found = await connection.runAndReadAll(sql);
    return new Map(found.getRowsJson().map(([row, json]) => [row, fromJson(String(json))]));
  };
  return async function* (nr: number): AsyncGenerator<RowPair<Row>> {
    const [first = 1, last = 0] = rangeOf.get(nr) ?? [];
    for (let place = first; place <= last; place += pairsAtOnce) {
      const range = `${place} AND ${Math.min(last, place + pairsAtOnce - 1)}`;
      const found = await connection.runAndReadAll(
        `SELECT old::DOUBLE, live::DOUBLE, moved FROM ${kind}_differing WHERE place BETWEEN ${range} ORDER BY place`,
      );
      const page = found.getRowsJson();
      const [oldRows, liveRows] = [page.map(([old]) => old), page.map(([, live]) => live)];
      const [olds, lives] = [await rowsOf("old", oldRows), await rowsOf("live", liveRows)];
      for (const [old, live, isMoved] of page)
        yield { old: olds.get(old) ?? null, live: lives.get(live) ?? null, isMoved: isMoved === true };
    }
  };
}
