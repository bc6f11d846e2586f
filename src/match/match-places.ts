/** One of the two dumps, and a table of its rows. */
export interface MatchedSide {
  readonly side: "before" | "after";
  readonly table: string;
}

/** SQL statements that make `<into>_places`: a number for every document. */
export function chunkPlaces(into: string, sides: readonly MatchedSide[]): readonly string[] {
  const documents = sides.map(({ table }) => `SELECT dataset_id, document_id FROM ${table}`);
  return [
    `CREATE OR REPLACE TEMP TABLE ${into}_places AS SELECT row_number() OVER () AS place, *
      FROM (${documents.join(" UNION ")})`,
  ];
}

/**
 * SQL statements that make `<into>_places`: a number for every pair of parents, for every parent that has no counterpart, and
 * for every parent that no chunk is, which is taken for its own counterpart. The last have the highest numbers.
 */
export function childPlaces(into: string, sides: readonly MatchedSide[], parents: string): readonly string[] {
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
