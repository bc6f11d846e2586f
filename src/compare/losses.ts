import type { Connection } from "../duckdb/open-duckdb.js";
import type { RestoredRow } from "../journal/journal-state.js";
import { manualEditsSql } from "./manual-edits.js";
import { pairRows } from "./pair.js";

/**
 * Finds what a re-index lost between two runs, or two states of a job's database. First load the tables `documents`,
 * `<side>_<kind>` (see `factsSql`) and those of the history. Makes `manual_chunks`: older chunks with evidence that a person added,
 * edited or disabled them; the tables of pairs; and `losses`. `restored`: see `pairRows`.
 */
export async function findLosses(
  connection: Connection,
  signal: AbortSignal,
  restored?: readonly RestoredRow[],
): Promise<void> {
  for (const sql of manualEditsSql) await connection.run(sql);
  await pairRows(connection, signal, restored);
  await connection.run(lossesSql);
}

/**
 * SQL: makes `losses`, a row for each lost chunk and child chunk of the older run, from the pairs of both runs. A row is lost if its
 * id is gone and no row of the newer run, paired one to one, has its content and answer; or if that row lacks the keywords or the
 * disabled state that a person had set. `manual_edit` is null without evidence of a person's work: then the service made the row.
 */
const lossesSql = `CREATE OR REPLACE TABLE losses AS
  SELECT 'chunk' AS level, b.dataset_id, b.document_id, m.before_row AS row,
    NOT coalesce(m.same_content, false) AS text_lost,
    coalesce(NOT text_lost AND e.has_new_keywords AND a.keywords IS DISTINCT FROM b.keywords, false) AS keywords_lost,
    coalesce(NOT text_lost AND e.is_disabled AND a.enabled, false) AS enabled_again,
    CASE WHEN enabled_again AND NOT keywords_lost THEN 'disabled' WHEN e.origin = 'added' THEN 'added'
      WHEN e.origin <> 'own' OR e.has_new_keywords THEN 'edited' WHEN e.is_disabled THEN 'disabled' END AS manual_edit
  FROM matched_chunks m JOIN old_chunks b ON b.rowid = m.before_row LEFT JOIN new_chunks a ON a.rowid = m.after_row
  LEFT JOIN manual_chunks e ON e.row = m.before_row
  SEMI JOIN (FROM documents WHERE in_both) d ON d.dataset_id = b.dataset_id AND d.document_id = b.document_id
  WHERE m.matched_by IS DISTINCT FROM 'id' AND (text_lost OR keywords_lost OR enabled_again)
  UNION ALL BY NAME
  SELECT 'child_chunk' AS level, b.dataset_id, b.document_id, m.before_row AS row, true AS text_lost, false AS keywords_lost, false AS enabled_again,
    CASE WHEN b.edited OR b.before IS NOT NULL THEN 'customized' END AS manual_edit
  FROM matched_child_chunks m JOIN old_child_chunks b ON b.rowid = m.before_row
  SEMI JOIN (FROM documents WHERE in_both) d ON d.dataset_id = b.dataset_id AND d.document_id = b.document_id
  WHERE m.matched_by IS DISTINCT FROM 'id' AND NOT coalesce(m.same_content, false)`;
