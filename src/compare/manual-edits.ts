/** SQL statements that make the tables of manual edits, after the rows of both runs are loaded. */
export const manualEditsSql: readonly string[] = [
  `CREATE OR REPLACE TABLE indexed AS
    SELECT dataset_id, document_id, ${timeOf("old")} AS old_at, ${timeOf("new")} AS new_at,
      coalesce(same_source AND new_at > old_at, false) AS is_comparable
    FROM documents d LEFT JOIN ${youngerSql("old")} o USING (dataset_id, document_id) LEFT JOIN ${youngerSql("new")} n USING (dataset_id, document_id)`,
  `CREATE OR REPLACE TABLE manual_chunks AS SELECT * FROM (
    SELECT c.rowid AS row, coalesce(epoch(c.created_at) > i.old_at, false) AS is_late,
      CASE WHEN is_late OR h.id IS NOT NULL THEN 'added' WHEN c.before IS NOT NULL THEN 'edited' WHEN c.edited THEN 'unknown' ELSE 'own' END AS origin,
      c.has_new_keywords,
      coalesce(NOT c.enabled AND c.status IS DISTINCT FROM 'error' AND NOT d.switched_off AND (c.disabled_by_someone OR c.was_enabled), false) AS is_disabled,
      c.is_filled AND (c.has_answer OR NOT d.is_qa) AS is_writable
    FROM old_chunks c JOIN documents d USING (dataset_id, document_id) JOIN indexed i USING (dataset_id, document_id)
    LEFT JOIN added_chunks h USING (dataset_id, document_id, id)
  ) WHERE origin <> 'own' OR has_new_keywords OR is_disabled`,
  `CREATE OR REPLACE TABLE manual_documents AS
    SELECT dataset_id, document_id FROM manual_chunks m JOIN old_chunks c ON c.rowid = m.row
    UNION SELECT dataset_id, document_id FROM old_child_chunks WHERE edited OR before IS NOT NULL`,
];

/** SQL: per document, the number of chunks created after its indexing ended, of those that were also indexed later, and of all. */
function youngerSql(side: "old" | "new"): string {
  return `(SELECT dataset_id, document_id, count(*) FILTER (epoch(c.created_at) > d.${side}_indexed_at) AS younger,
      count(*) FILTER (least(epoch(c.created_at), coalesce(epoch(c.completed_at), 0)) > d.${side}_indexed_at) AS indexed_later, count(*) AS rows
    FROM ${side}_chunks c JOIN documents d USING (dataset_id, document_id) GROUP BY ALL)`;
}

/**
 * SQL: when the indexing of a document was completed; null if its details do not say. The service takes this time and the times of
 * the chunks from different clocks. So it counts only if at least half of the chunks were created before it, or if some were, and all
 * others were also indexed after it.
 */
function timeOf(side: "old" | "new"): string {
  const name = side === "old" ? "o" : "n";
  const isTrusted = `${name}.younger * 2 <= ${name}.rows OR (${name}.younger < ${name}.rows AND ${name}.younger = ${name}.indexed_later)`;
  return `CASE WHEN coalesce(${isTrusted}, true) THEN d.${side}_indexed_at END`;
}
