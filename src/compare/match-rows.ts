/** Names of tables or views, inserted into SQL without quoting. */
interface MatchedTables {
  /** The table of the older rows: their ids and positions, and `fingerprint`, which is equal for equal contents. */
  readonly before: string;
  /** The table of the newer rows. */
  readonly after: string;
  /** The temporary table to create. Names starting with it and an underscore are used and dropped too. */
  readonly into: string;
  /**
   * SQL statements that find more pairs. They run after the rounds by id and by content, whose pairs are in `into`; `<into>_before`
   * and `<into>_after` have the remaining rows (row, place, id, position, fingerprint). They create `<into>_known` (before_row, after_row).
   */
  readonly known?: readonly string[];
}

/** Child chunks are matched within matched parents. */
interface MatchedChildren extends MatchedTables {
  /** The result table of matching their parent chunks. */
  readonly parents: string;
}

/**
 * SQL statements that pair the rows of two dumps across a re-index, within each document. Rows are paired by id, then by content
 * (equal rows in order of position and id; but if one run has more of them, first at equal positions, because an edit took or made
 * one), then by the caller's `known` pairs, then by position (ordered by id). Child chunks are paired the same way within a pair of parents. The temporary table `into` gets one row per pair, and one per row without a counterpart:
 *
 * - dataset_id, document_id; for child chunks also before_segment_id and after_segment_id, the parents
 * - before_id, after_id: null if missing
 * - matched_by: `id`, `content`, `known`, `position`, or null if added or removed
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

/** The rows of one side, with one number for the document or parent instead of two or three ids. */
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
 * Pairs rows with the same place and the same values in the columns of the key, in order. With a condition, `many` of a row is how many
 * rows of its side have its content.
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

/** SQL statements that create `<into>_places`: a number for every document. */
function chunkPositions(into: string, sides: readonly MatchedSide[]): readonly string[] {
  const documents = sides.map(({ table }) => `SELECT dataset_id, document_id FROM ${table}`);
  return [
    `CREATE OR REPLACE TEMP TABLE ${into}_places AS SELECT row_number() OVER () AS place, *
      FROM (${documents.join(" UNION ")})`,
  ];
}

/**
 * SQL statements that create `<into>_places`: a number for every pair of parents, every parent without a counterpart, and every
 * parent without a chunk, which counts as its own counterpart. The last group has the highest numbers.
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

/** The kinds whose rows are matched between dumps. */
export type MatchedKind = "chunks" | "child_chunks";
