import { comparedFields } from "./facts-sql.js";
import type { MatchedKind } from "./pair.js";

/** The SQL parts that differ between chunks and child chunks. */
const own = {
  chunks: { level: "chunk", segments: "NULL::VARCHAR AS old_segment_id, NULL::VARCHAR AS new_segment_id" },
  child_chunks: {
    level: "child_chunk",
    segments: "before_segment_id AS old_segment_id, after_segment_id AS new_segment_id",
  },
} as const;

/** SQL: how a pair of `matchRows` differs; null if it does not. */
const kindSql = `CASE WHEN before_row IS NULL THEN 'added' WHEN after_row IS NULL THEN 'removed'
  WHEN NOT same_content THEN 'changed' WHEN before_position IS DISTINCT FROM after_position THEN 'moved' END`;

/** SQL: makes `reordered`, the documents whose chunks with unchanged content are in another order. */
export const reorderedSql = `CREATE TABLE reordered AS SELECT DISTINCT dataset_id, document_id FROM (
    SELECT dataset_id, document_id, after_position < lag(after_position) OVER (
      PARTITION BY dataset_id, document_id ORDER BY before_position, after_position) AS is_back
    FROM matched_chunks SEMI JOIN (FROM changed_chunks WHERE kind = 'moved') USING (dataset_id, document_id)
    WHERE same_content
  ) WHERE is_back`;

/** SQL: makes `changed_<kind>`, the pairs of `matched_<kind>` that differ, from the facts about both sides. */
export function changedSql(kind: MatchedKind): string {
  const { level, segments } = own[kind];
  const fields = comparedFields[kind].map(
    (name) => `CASE WHEN b.${name} IS DISTINCT FROM a.${name} THEN '${name}' END`,
  );
  return `CREATE TABLE changed_${kind} AS
    SELECT dataset_id, document_id, '${level}' AS level, coalesce(kind, 'fields') AS kind, before_row, after_row,
      ${segments}, before_id AS old_id, after_id AS new_id, before_position AS old_position, after_position AS new_position,
      CASE WHEN before_row IS NULL OR after_row IS NULL THEN '' ELSE fields END AS fields
    FROM (
      SELECT m.*, ${kindSql} AS kind, concat_ws(',', ${fields.join(", ")}) AS fields
      FROM matched_${kind} m
      LEFT JOIN old_${kind} b ON b.rowid = m.before_row LEFT JOIN new_${kind} a ON a.rowid = m.after_row
    ) WHERE kind IS NOT NULL OR fields <> ''`;
}

/** SQL: whether a row belongs to the document of the change `c`. */
const ofDocument = (name: string) => `${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id`;

/** SQL: the changes of one kind, with losses and the beginnings of the contents. */
function fullSql(kind: MatchedKind): string {
  const { parentPosition, joins } = parentSql[kind];
  return `SELECT c.*, l.row IS NOT NULL AS lost, l.manual_edit, a.edited AS is_edited_now, ${parentPosition} AS parent_position,
      b.fingerprint AS old_fingerprint, a.fingerprint AS new_fingerprint,
      b.beginning AS old_beginning, a.beginning AS new_beginning
    FROM changed_${kind} c
    LEFT JOIN old_${kind} b ON b.rowid = before_row LEFT JOIN new_${kind} a ON a.rowid = after_row
    LEFT JOIN losses l ON l.row = before_row AND l.level = '${own[kind].level}'
    ${joins}`;
}

const parentSql: Readonly<Record<MatchedKind, { parentPosition: string; joins: string }>> = {
  chunks: { parentPosition: "coalesce(old_position, new_position)", joins: "" },
  child_chunks: {
    parentPosition: "coalesce(po.position, pn.position)",
    joins: `LEFT JOIN parents_old po ON ${ofDocument("po")} AND po.old_segment_id = c.old_segment_id
      LEFT JOIN parents_new pn ON ${ofDocument("pn")} AND pn.new_segment_id = c.new_segment_id`,
  },
};

/** The positions of the parents of changed child chunks. */
const parents = (["old", "new"] as const).map(
  (
    side,
  ) => `CREATE TABLE parents_${side} AS SELECT dataset_id, document_id, id AS ${side}_segment_id, min(position) AS position
    FROM ${side}_chunks s SEMI JOIN changed_child_chunks c ON ${ofDocument("s")} AND c.${side}_segment_id = s.id
    GROUP BY ALL`,
);

/** SQL statements that make `changes`: all differences, numbered in report order. */
export const changesSql: readonly string[] = [
  ...parents,
  `CREATE TABLE changes AS
    SELECT row_number() OVER (ORDER BY CASE WHEN lost AND manual_edit IS NOT NULL THEN 0 WHEN lost THEN 1 ELSE 2 END,
      d.nr, parent_position NULLS LAST, level DESC, coalesce(old_segment_id, new_segment_id),
      coalesce(old_position, new_position) NULLS LAST, old_id NULLS LAST, new_id NULLS LAST, before_row, after_row) AS n, c.*
    FROM (${fullSql("chunks")} UNION ALL BY NAME ${fullSql("child_chunks")}) c
    JOIN documents d USING (dataset_id, document_id)`,
];

/** SQL: the counts of one kind, one row per document. */
export function countsSql(kind: MatchedKind): string {
  return `SELECT d.nr, coalesce(m.added, 0) AS added, coalesce(m.removed, 0) AS removed, coalesce(m.changed, 0) AS changed,
      coalesce(m.moved, 0) AS moved, coalesce(m.unchanged, 0) AS unchanged, coalesce(c.fields, 0) AS fields,
      coalesce(c.lost, 0) AS lost, coalesce(c.manual_edits, 0) AS manual_edits, r.document_id IS NOT NULL AS reindexed, o.document_id IS NOT NULL AS reordered
    FROM documents d
    LEFT JOIN (
      SELECT dataset_id, document_id, count(*) FILTER (kind = 'added') AS added, count(*) FILTER (kind = 'removed') AS removed,
        count(*) FILTER (kind = 'changed') AS changed, count(*) FILTER (kind = 'moved') AS moved,
        count(*) FILTER (kind IS NULL) AS unchanged
      FROM (SELECT dataset_id, document_id, ${kindSql} AS kind FROM matched_${kind}) GROUP BY ALL
    ) m USING (dataset_id, document_id)
    LEFT JOIN (
      SELECT dataset_id, document_id, count(*) FILTER (fields <> '') AS fields, count(*) FILTER (lost) AS lost,
        count(*) FILTER (lost AND manual_edit IS NOT NULL) AS manual_edits
      FROM changes WHERE level = '${own[kind].level}' GROUP BY ALL
    ) c USING (dataset_id, document_id)
    LEFT JOIN reindexed r USING (dataset_id, document_id)
    LEFT JOIN reordered o USING (dataset_id, document_id)
    ORDER BY d.nr`;
}
