import type { Connection } from "../duckdb/open-duckdb.js";
import { loadList } from "../dump/load.js";
import type { RestoredRow } from "../journal/journal-state.js";

/** The kinds whose rows are matched between dumps. */
export type MatchedKind = "chunks" | "child_chunks";

/**
 * Pairs the rows of two runs, from the tables `documents`, `manual_chunks` and `<side>_<kind>`. Chunks are paired by id; then with the
 * chunk that a restore wrote for them (`restored`), if that still has their text; then by text; then an edited chunk with the chunk at
 * its place; the rest by position, which is no evidence about losses. Makes `matched_chunks` and `matched_child_chunks` (see
 * `matchRows`), `reindexed`: documents where no chunk kept its id, and `places` and `child_places`: the row between the neighbours of an
 * unpaired row; with `restored` also `edited_since_chunks` and `edited_since_child_chunks` (see `editedSince`).
 */
export async function pairRows(
  connection: Connection,
  signal: AbortSignal,
  restored: readonly RestoredRow[] | undefined,
): Promise<void> {
  if (restored) {
    await loadList(connection, "restored_rows", restored, { old_id: "VARCHAR", id: "VARCHAR" });
    for (const kind of ["chunks", "child_chunks"] as const) await connection.run(editedSince(kind));
  }
  const tables = (kind: MatchedKind) => ({
    before: `old_${kind}`,
    after: `new_${kind}`,
    into: `matched_${kind}`,
    ...(restored && restored.length > 0 ? { restored: "restored_rows" } : {}),
  });
  for (const sql of [
    matchRows({ ...tables("chunks"), known: editedPairs }),
    matchRows({ ...tables("child_chunks"), parents: "matched_chunks" }),
    ...placesSql,
  ]) {
    signal.throwIfAborted();
    await connection.run(sql);
  }
}

/**
 * SQL: makes `edited_since_<kind>`: older rows (`row`) that a restore wrote to the newer documents, with the id that they have there, if
 * the row with this id has another text by now.
 */
function editedSince(kind: MatchedKind): string {
  return `CREATE OR REPLACE TABLE edited_since_${kind} AS SELECT b.rowid AS row, max(a.id) AS id
    FROM restored_rows r JOIN old_${kind} b ON b.id = r.old_id
    JOIN new_${kind} a ON a.id = r.id AND a.dataset_id = b.dataset_id AND a.document_id = b.document_id
    WHERE a.fingerprint <> b.fingerprint GROUP BY ALL`;
}

const ofDocument = "dataset_id, document_id";

/** SQL: whether a chunk `n` has no manual edits and accepts one. */
const isUntouched = `NOT n.edited AND NOT n.disabled_by_someone AND n.enabled AND coalesce(n.status, 'completed') = 'completed'`;

/** SQL sources for `gapsSql`. */
interface Sides {
  /** The rows of both sides: row, grp, id, position. Only rows with the same `grp` can be neighbours. */
  readonly old: string;
  readonly new: string;
  /** The pairs: before_row, after_row. */
  readonly pairs: string;
}

/**
 * SQL: the places of unpaired rows of the older run. A row has a place if both of its neighbours are paired and exactly one unpaired
 * row of the newer run is between their partners. The start and the end of a group count as paired neighbours. Columns: row, place,
 * in_place: whether the positions are equal.
 */
function gapsSql({ old, new: fresh, pairs }: Sides): string {
  const order = "PARTITION BY grp ORDER BY position NULLS LAST, id, row";
  return `(
    WITH news AS (
      SELECT *, EXISTS (FROM ${pairs} WHERE after_row = s.row) AS is_paired,
        row_number() OVER (${order}) AS nr FROM ${fresh} s
    ), olds AS (
      SELECT s.row, s.grp, s.position, p.before_row IS NOT NULL AS is_paired, row_number() OVER w AS at,
        lag(n.nr) OVER w AS before, lead(n.nr) OVER w AS after, count(*) OVER (PARTITION BY s.grp) AS many
      FROM ${old} s LEFT JOIN ${pairs} p ON p.before_row = s.row LEFT JOIN news n ON n.row = p.after_row AND n.grp = s.grp
      WINDOW w AS (PARTITION BY s.grp ORDER BY s.position NULLS LAST, s.id, s.row)
    ), totals AS (SELECT grp, count(*) AS total FROM news GROUP BY grp)
    SELECT o.row, n.row AS place, o.position = n.position AS in_place
    FROM olds o JOIN totals t USING (grp) JOIN news n USING (grp)
    WHERE NOT o.is_paired AND NOT n.is_paired
      AND n.nr = CASE WHEN o.at = 1 THEN 0 ELSE o.before END + 1
      AND n.nr = CASE WHEN o.at = o.many THEN t.total + 1 ELSE o.after END - 1
  )`;
}

const allPairs =
  "(SELECT before_row, after_row FROM matched_chunks WHERE before_row IS NOT NULL AND after_row IS NOT NULL AND matched_by <> 'position')";
const allChildPairs =
  "(SELECT before_row, after_row FROM matched_child_chunks WHERE same_content AND matched_by <> 'position')";

/**
 * SQL: the chunks of all documents that have manual edits. `byIndexing`: only chunks that the indexing made, in documents whose two
 * indexings used the same source.
 */
const chunksOf = (side: "old" | "new", byIndexing: boolean) =>
  `(SELECT c.rowid AS row, d.nr AS grp, id, position FROM ${side}_chunks c JOIN documents d USING (${ofDocument})
    SEMI JOIN manual_documents USING (${ofDocument}) ${byIndexing ? madeByIndexing(side) : ""})`;

/** SQL: the child chunks of paired chunks, with the same conditions. */
const childrenOf = (side: "old" | "new") =>
  `(SELECT c.rowid AS row, p.rowid AS grp, c.id, c.position FROM ${side}_child_chunks c
    JOIN matched_chunks p ON p.dataset_id = c.dataset_id AND p.document_id = c.document_id
      AND p.${side === "old" ? "before" : "after"}_id = c.segment_id AND p.matched_by <> 'position'
    SEMI JOIN manual_documents m ON m.dataset_id = c.dataset_id AND m.document_id = c.document_id ${madeByIndexing(side)})`;

const madeByIndexing = (side: "old" | "new") => `WHERE EXISTS (FROM indexed i WHERE i.dataset_id = c.dataset_id
  AND i.document_id = c.document_id AND i.is_comparable AND epoch(c.created_at) <= i.${side}_at)`;

/**
 * SQL: pairs edited chunks with the chunk between the same neighbours. `pairs`: the pairs found so far, which make neighbours
 * comparable.
 */
function byNeighbours(pairs: string, condition: string): string {
  return `SELECT g.row AS before_row, g.place AS after_row, true AS by_neighbours
    FROM ${gapsSql({ old: chunksOf("old", true), new: chunksOf("new", true), pairs })} g
    JOIN manual_chunks m ON m.row = g.row AND ${condition}
    JOIN old_chunks c ON c.rowid = g.row JOIN new_chunks n ON n.rowid = g.place
    JOIN documents d ON d.dataset_id = c.dataset_id AND d.document_id = c.document_id
    SEMI JOIN reindexed r ON r.dataset_id = c.dataset_id AND r.document_id = c.document_id
    WHERE g.in_place AND m.is_writable AND ${isUntouched} AND (NOT d.is_qa OR c.question = n.question)`;
}

/**
 * SQL statements that find which new chunk each unpaired edited chunk belongs to, in documents that were indexed again. 1. By the
 * neighbours, if the text before the edit is unknown: both indexings used the same file and process rule, the first one made the
 * chunk, and between the same two neighbours, at the same position, is exactly one chunk without manual edits. In a `qa_model`, the
 * question must be the same, because a model may ask other questions the next time. 2. By the history: the newer run has the text
 * before the edit as often as chunks with that text were edited. Enabled chunks come first. 3. By the neighbours again: step 2 may
 * have paired a neighbour. The history may also have begun after a first edit; the text before the edit that it knows was then never
 * made by the indexing.
 */
const editedPairs: readonly string[] = [
  `CREATE OR REPLACE TABLE reindexed AS SELECT ${ofDocument} FROM documents SEMI JOIN old_chunks USING (${ofDocument})
    SEMI JOIN new_chunks USING (${ofDocument}) ANTI JOIN (FROM matched_chunks WHERE matched_by = 'id') USING (${ofDocument})`,
  `CREATE OR REPLACE TABLE matched_chunks_known AS ${byNeighbours(allPairs, "m.origin = 'unknown'")}`,
  `INSERT INTO matched_chunks_known
    WITH olds AS (
      SELECT b.row, b.place, c.before AS text,
        row_number() OVER w AS nth, count(*) OVER (PARTITION BY b.place, c.before) AS many
      FROM matched_chunks_before b JOIN old_chunks c ON c.rowid = b.row JOIN manual_chunks m ON m.row = b.row
      SEMI JOIN reindexed r ON r.dataset_id = c.dataset_id AND r.document_id = c.document_id
      WHERE m.origin = 'edited' AND m.is_writable
      WINDOW w AS (PARTITION BY b.place, c.before ORDER BY b.position NULLS LAST, b.id, b.row)
    ), free AS (
      SELECT a.*, n.enabled, count(*) FILTER (n.enabled) OVER (PARTITION BY place, a.fingerprint) AS many_enabled
      FROM matched_chunks_after a JOIN new_chunks n ON n.rowid = a.row
      ANTI JOIN matched_chunks_known k ON k.after_row = a.row
    ), news AS (
      SELECT row, place, fingerprint AS text,
        row_number() OVER (PARTITION BY place, fingerprint ORDER BY position NULLS LAST, id, row) AS nth,
        count(*) OVER (PARTITION BY place, fingerprint) AS many
      FROM free WHERE enabled OR many_enabled = 0
    )
    SELECT o.row, n.row, false FROM olds o JOIN news n USING (place, text, nth, many)`,
  `INSERT INTO matched_chunks_known ${byNeighbours(
    `(FROM ${allPairs} UNION ALL SELECT before_row, after_row FROM matched_chunks_known)`,
    "m.origin IN ('unknown', 'edited')",
  )}`,
  "CREATE OR REPLACE TABLE known_places AS FROM matched_chunks_known",
];

/**
 * SQL statements that make `places`, the chunk between the neighbours of each unpaired chunk, and `child_places`, the automatic
 * child chunk between the neighbours of each unpaired child chunk.
 */
const placesSql: readonly string[] = [
  `CREATE TABLE places AS SELECT row, place FROM ${gapsSql({ old: chunksOf("old", false), new: chunksOf("new", false), pairs: allPairs })}`,
  `CREATE TABLE child_places AS SELECT g.row, g.place FROM ${gapsSql({ old: childrenOf("old"), new: childrenOf("new"), pairs: allChildPairs })} g
    JOIN new_child_chunks n ON n.rowid = g.place WHERE g.in_place AND NOT n.edited`,
];

/** Names of tables or views, inserted into SQL without quoting. */
interface MatchedTables {
  /** The table of the older rows: their ids and positions, and `fingerprint`, which is equal for equal contents. */
  readonly before: string;
  /** The table of the newer rows. */
  readonly after: string;
  /** The temporary table to create. Names starting with it and an underscore are used and dropped too. */
  readonly into: string;
  /** The table of `RestoredRow`s: old_id, id. */
  readonly restored?: string;
  /**
   * SQL statements that find more pairs. They run after the rounds by id and by content, whose pairs are in `into`; `<into>_before`
   * and `<into>_after` have the remaining rows (row, place, id, position, fingerprint). They create `<into>_known` (before_row, after_row).
   */
  readonly known?: readonly string[];
}

/** The tables to match child chunks, which are matched only within matched parents. */
interface MatchedChildren extends MatchedTables {
  /** The result table of matching their parent chunks. */
  readonly parents: string;
}

/**
 * SQL statements that pair the rows of two dumps across a re-index, within each document: by id, then by the `restored` rows, then by
 * content, then by the caller's `known` pairs, then by position (ordered by id). Rows with equal content are paired in order of position
 * and id. But if one run has more of them, those at equal positions are paired first, because an edit removed or made the others. Child
 * chunks are paired the same way within a pair of parents. The temporary table `into` gets one row per pair, and one per row without a
 * counterpart:
 *
 * - dataset_id, document_id; for child chunks also before_segment_id and after_segment_id, the parents
 * - before_id, after_id: null if missing
 * - matched_by: `id`, `content` (also by the `restored` rows), `known`, `position`, or null if added or removed
 * - same_content: whether content and answer are equal; null without a pair
 * - before_position, after_position
 * - before_row, after_row: the rowid
 *
 * Every row of both dumps occurs once, even if a document has an id twice.
 */
export function matchRows(tables: MatchedTables | MatchedChildren): string {
  const { into } = tables;
  const parent = "parents" in tables ? ["segment_id"] : [];
  const sides = (["before", "after"] as const).map((side) => ({ side, table: tables[side] }));
  return [
    ...("parents" in tables ? childPositions(into, sides, tables.parents) : chunkPositions(into, sides)),
    ...sides.map((side) => positionedRows(into, side, parent)),
    makeInto(into, parent),
    ...round(into, "id", ["id"], "position NULLS LAST, fingerprint, row"),
    ...(tables.restored ? takePairs(into, "content", restoredPairs(into, tables.restored)) : []),
    ...round(into, "content", ["fingerprint", "position"], "id, row", "b.many <> a.many"),
    ...round(into, "content", ["fingerprint"], "position NULLS LAST, id, row"),
    ...(tables.known
      ? [...tables.known, ...takePairs(into, "known", knownPairs(into)), `DROP TABLE ${into}_known`]
      : []),
    ...round(into, "position", ["position"], "id, row"),
    ...sides.map(
      ({ side }) => `INSERT INTO ${into} BY NAME
        SELECT p.* EXCLUDE (place), r.id AS ${side}_id, r.position AS ${side}_position, r.row AS ${side}_row
        FROM ${into}_${side} r JOIN ${into}_places p USING (place)`,
    ),
    ...["before", "after", "places"].map((name) => `DROP TABLE ${into}_${name}`),
  ].join(";\n");
}

/**
 * SQL: the rows of one side, with a number (`place`) for the document or parent that a row belongs to, because one number is faster
 * to compare than two or three ids.
 */
function positionedRows(into: string, { side, table }: MatchedSide, parent: readonly string[]): string {
  const key = ["dataset_id", "document_id", ...parent].join(", ");
  const place = parent.length > 0 ? `${side}_segment_id AS segment_id, min(place) AS place` : "min(place) AS place";
  return `CREATE OR REPLACE TEMP TABLE ${into}_${side} AS SELECT r.rowid AS row, place, id, position, fingerprint
    FROM ${table} r
    JOIN (SELECT dataset_id, document_id, ${place} FROM ${into}_places GROUP BY ALL) USING (${key})`;
}

function makeInto(into: string, parent: readonly string[]): string {
  const names = ["dataset_id", "document_id", ...parent.flatMap((name) => [`before_${name}`, `after_${name}`])];
  const texts = [...names, "before_id", "after_id", "matched_by"].map((name) => `${name} VARCHAR`);
  return `CREATE OR REPLACE TEMP TABLE ${into}
    (${texts.join(", ")}, same_content BOOLEAN,
      before_position BIGINT, after_position BIGINT, before_row BIGINT, after_row BIGINT)`;
}

/**
 * SQL of one round: pairs rows of the same document or parent (`place`) that have equal values in the columns of `key`; if several
 * do, the first with the first and so on. In `condition`, `many` is how many rows of the same side have the same content.
 */
function round(
  into: string,
  name: string,
  key: readonly string[],
  order: string,
  condition?: string,
): readonly string[] {
  const same = ["place", ...key].join(", ");
  const many = condition === undefined ? "" : "count(*) OVER (PARTITION BY place, fingerprint) AS many,";
  const numbered = (side: "before" | "after") =>
    `(SELECT *, ${many} row_number() OVER (PARTITION BY ${same} ORDER BY ${order}) AS nth FROM ${into}_${side})`;
  const equal = [...["place", ...key, "nth"].map((column) => `b.${column} = a.${column}`), condition ?? "true"];
  const pairs = `${numbered("before")} b JOIN ${numbered("after")} a ON ${equal.join(" AND ")}`;
  return takePairs(into, name, pairs);
}

function knownPairs(into: string): string {
  return `${into}_known JOIN ${into}_before b ON b.row = before_row JOIN ${into}_after a ON a.row = after_row`;
}

/** SQL: rows and those that a restore wrote for them, if their content is equal. A row is in one pair only, even if restored twice. */
function restoredPairs(into: string, restored: string): string {
  const firstOf = (side: "a" | "b", other: "a" | "b") =>
    `row_number() OVER (PARTITION BY ${side}.row ORDER BY ${other}.row) = 1`;
  return `(SELECT DISTINCT old_id, id FROM ${restored}) r JOIN ${into}_before b ON b.id = r.old_id
    JOIN ${into}_after a ON a.id = r.id AND a.place = b.place AND a.fingerprint = b.fingerprint
    QUALIFY ${firstOf("a", "b")} AND ${firstOf("b", "a")}`;
}

/** Moves pairs into the result. `pairs`: SQL of rows `b` and `a` side by side. The remaining rows go to the next round. */
function takePairs(into: string, name: string, pairs: string): readonly string[] {
  return [
    `CREATE OR REPLACE TEMP TABLE ${into}_pairs AS
      SELECT b.row AS before_row, a.row AS after_row, b.place, b.id AS before_id, a.id AS after_id,
        b.fingerprint = a.fingerprint AS same_content, b.position AS before_position, a.position AS after_position
      FROM ${pairs}`,
    `INSERT INTO ${into} BY NAME SELECT p.* EXCLUDE (place), r.* EXCLUDE (place), '${name}' AS matched_by
      FROM ${into}_pairs r JOIN ${into}_places p USING (place)`,
    ...(["before", "after"] as const).flatMap((side) => [
      `CREATE OR REPLACE TEMP TABLE ${into}_left AS
        FROM ${into}_${side} r ANTI JOIN ${into}_pairs p ON r.row = p.${side}_row`,
      `DROP TABLE ${into}_${side}`,
      `ALTER TABLE ${into}_left RENAME TO ${into}_${side}`,
    ]),
    `DROP TABLE ${into}_pairs`,
  ];
}

/** One of the two dumps, and the table of its rows. */
interface MatchedSide {
  readonly side: "before" | "after";
  readonly table: string;
}

/** SQL statements that create `<into>_places`, which numbers the documents. */
function chunkPositions(into: string, sides: readonly MatchedSide[]): readonly string[] {
  const documents = sides.map(({ table }) => `SELECT dataset_id, document_id FROM ${table}`);
  return [
    `CREATE OR REPLACE TEMP TABLE ${into}_places AS SELECT row_number() OVER () AS place, *
      FROM (${documents.join(" UNION ")})`,
  ];
}

/**
 * SQL statements that create `<into>_places`, which numbers the parents of child chunks: matched parents share a number, and every
 * other parent has its own. Parents that have no chunk in the dump get the highest numbers, and match by their ids.
 */
function childPositions(into: string, sides: readonly MatchedSide[], parents: string): readonly string[] {
  const orphans = sides.map(
    ({ side, table }) => `SELECT dataset_id, document_id, segment_id FROM ${table} r
      ANTI JOIN ${parents} p
        ON r.dataset_id = p.dataset_id AND r.document_id = p.document_id AND r.segment_id = p.${side}_id`,
  );
  return [
    `CREATE OR REPLACE TEMP TABLE ${into}_places AS
      SELECT row_number() OVER () AS place, dataset_id, document_id, before_id AS before_segment_id,
        after_id AS after_segment_id
      FROM ${parents}`,
    `INSERT INTO ${into}_places
      SELECT (SELECT count(*) FROM ${parents}) + row_number() OVER (), dataset_id, document_id, segment_id, segment_id
      FROM (${orphans.join(" UNION ")})`,
  ];
}
