import type { Connection } from "../../duckdb/open-duckdb.js";
import { sqlText } from "../../duckdb/sql-text.js";
import type { FactSource } from "./fact-source.js";

/**
 * Makes the table `earlier_reads`: documents that this run did not read whole, or not at all, and that earlier runs know. `read_whole`:
 * whether a run did; `read_well_at`: the end of the last one; `was_unstable`: whether one moved while it was read. Later runs change
 * nothing of it: it goes by what is never replaced in the database where a later run has read the document again.
 */
export async function loadEarlierReads(
  connection: Connection,
  { hasHistory, run_id }: Pick<FactSource, "hasHistory" | "run_id">,
  content: boolean,
): Promise<void> {
  const run = sqlText(run_id);
  const sql = hasHistory ? [later(run), held(run), earlierReads(run, content)] : [noEarlierReads];
  await connection.run(sql.join(";\n"));
}

const noEarlierReads = `CREATE TEMP TABLE earlier_reads (dataset_id VARCHAR, document_id VARCHAR, document_name VARCHAR,
  read_whole BOOLEAN, read_well_at TIMESTAMP, was_unstable BOOLEAN)`;

const wellRead = "(FROM documents WHERE status = 'complete')";

/** SQL: makes the table `read_later`, of documents whose newest good read is of a later run. */
function later(run: string): string {
  return `CREATE TEMP TABLE read_later AS SELECT dataset_id, document_id FROM job.main.documents
    ANTI JOIN ${wellRead} USING (dataset_id, document_id) WHERE run_id > ${run}`;
}

/** SQL: makes the table `held`, of those documents that had chunks before the later runs: not all of these came with them. */
function held(run: string): string {
  const changes = `FROM job.main.chunk_changes SEMI JOIN read_later USING (dataset_id, document_id) WHERE run_id > ${run}`;
  return `CREATE TEMP TABLE held AS
    SELECT dataset_id, document_id FROM (
      SELECT dataset_id, document_id ${changes} GROUP BY dataset_id, document_id, lineage HAVING arg_min(change, run_id) <> 'added'
    )
    UNION
    SELECT dataset_id, document_id FROM job.main.chunks SEMI JOIN read_later USING (dataset_id, document_id)
      ANTI JOIN (SELECT dataset_id, document_id, coalesce(new_id, id) AS id ${changes}) USING (dataset_id, document_id, id)`;
}

function earlierReads(run: string, content: boolean): string {
  return `CREATE TEMP TABLE earlier_reads AS
    WITH vanished AS (
      SELECT dataset_id, document_id, max(run_id) AS run_id, arg_max(name, run_id) AS document_name FROM job.main.document_changes
      WHERE change = 'vanished' AND run_id <= ${run} GROUP BY dataset_id, document_id
    ), failed AS (
      SELECT dataset_id, document_id, bool_or(status = 'unstable') AS was_unstable, list(run_id) AS runs FROM job.main.failed_reads
      WHERE run_id <= ${run} GROUP BY dataset_id, document_id
    ), good AS (
      SELECT dataset_id, document_id, CASE WHEN status = 'complete' THEN run_id END AS good_run FROM job.main.documents
      ANTI JOIN ${wellRead} USING (dataset_id, document_id) WHERE run_id <= ${run}
      UNION ALL
      SELECT h.dataset_id, h.document_id, max(r.run_id) FROM held h
      LEFT JOIN vanished v USING (dataset_id, document_id) LEFT JOIN failed f USING (dataset_id, document_id)
      LEFT JOIN job.main.runs r ON r.run_id < coalesce(v.run_id, ${run}) AND NOT coalesce(list_contains(f.runs, r.run_id), false)
      GROUP BY h.dataset_id, h.document_id
    )
    SELECT dataset_id, document_id, ${content ? "v.document_name" : "NULL::VARCHAR"} AS document_name,
      good_run IS NOT NULL AS read_whole, make_timestamp(epoch_us(r.finished_at)) AS read_well_at,
      coalesce(was_unstable, false) AS was_unstable
    FROM good FULL JOIN failed USING (dataset_id, document_id) LEFT JOIN vanished v USING (dataset_id, document_id)
    LEFT JOIN job.main.runs r ON r.run_id = good_run
    ANTI JOIN ${wellRead} USING (dataset_id, document_id)`;
}
