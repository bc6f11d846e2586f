import { attachJob, attachReason, type RunInDatabase } from "../../database/attach-job.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { lacksMemory } from "../../duckdb/open-duckdb.js";
import { sqlText } from "../../duckdb/sql-text.js";
import { utcTime } from "../../duckdb/sql-types.js";

/** The run whose history is wanted, and tables of what it read. */
export interface HistoryOf extends RunInDatabase {
  /** A table of its chunks: dataset_id, document_id, id, status, created_at. */
  readonly chunks: string;
  /** A table of its child chunks: dataset_id, document_id, id. */
  readonly children: string;
}

/** Columns of a chunk that a person can change and a request can write. */
const editedColumns = ["content", "answer", "keywords", "enabled"] as const;

/**
 * SQL: makes the tables of the history, empty. `hand_chunks`: the first values of the columns of a chunk that differed later
 * although the chunk kept its id, which only a person does; `had` names these columns. `hand_children`: the same of child chunks.
 * `added_chunks`: chunks that a person added.
 */
export const emptyHistory = `
  CREATE OR REPLACE TABLE hand_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, had VARCHAR[],
    content VARCHAR, answer VARCHAR, keywords VARCHAR[], enabled BOOLEAN);
  CREATE OR REPLACE TABLE hand_children (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, content VARCHAR);
  CREATE OR REPLACE TABLE added_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR)`;

/**
 * Fills the tables of `emptyHistory` from the changes that the job's database has up to the run. The database is opened read-only.
 * Whatever is wrong with it, it is a warning and no history: gives that warning as a sentence, undefined if all went well.
 */
export async function loadHistory(
  connection: Connection,
  of: HistoryOf,
  signal: AbortSignal,
): Promise<string | undefined> {
  await connection.run(emptyHistory);
  try {
    const reason = await attachJob(connection, of);
    if (reason !== undefined) return warningOf(of, reason);
    for (const sql of [handSql("chunks", of), handSql("children", of), addedSql(of)]) await connection.run(sql);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await connection.run(emptyHistory);
    return warningOf(of, attachReason(error, of.database));
  } finally {
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
  }
}

function warningOf({ database }: HistoryOf, reason: string): string {
  return `the history in ${database} was not used: ${reason}; an edit is then known by its author alone, and what it replaced is not known`;
}

/**
 * SQL: adds the first values of what changed although the id stayed. A run that finds the status of a chunk changed may have met
 * the indexing at work, or a failure of it: keywords and `enabled` can change by themselves then.
 */
function handSql(kind: "chunks" | "children", of: HistoryOf): string {
  const names = kind === "chunks" ? editedColumns : (["content"] as const);
  const calm = kind === "chunks" ? "NOT list_contains(differs, 'status')" : "true";
  const condition = (name: string) =>
    `list_contains(differs, '${name}')${name === "content" || name === "answer" ? "" : ` AND ${calm}`}`;
  const values = names.map((name) => `arg_min_null(${name}, run_id) FILTER (${condition(name)}) AS ${name}`);
  const had = names.map((name) => `CASE WHEN bool_or(${condition(name)}) THEN '${name}' END`);
  const hadColumn = kind === "chunks" ? `list_filter([${had.join(", ")}], name -> name IS NOT NULL) AS had,` : "";
  const changes = kind === "chunks" ? "chunk_changes" : "child_chunk_changes";
  return `INSERT INTO hand_${kind} BY NAME
    SELECT dataset_id, document_id, id, ${hadColumn} ${values.join(", ")}
    FROM job.main.${changes} SEMI JOIN ${of[kind]} USING (dataset_id, document_id, id)
    WHERE run_id <= ${sqlText(of.run_id)} AND (${names.map(condition).join(" OR ")})
    GROUP BY ALL`;
}

/**
 * SQL: adds the chunks that came at a run at which other chunks of the document kept their ids, and that were created after the
 * run before it had begun: a chunk that a filter or an unfinished list had left out is older. A document that was being indexed
 * says nothing of who added its chunks.
 */
function addedSql({ run_id, chunks }: HistoryOf): string {
  const known = `FROM job.main.chunk_changes WHERE run_id <= ${sqlText(run_id)}`;
  const settled = "coalesce(status, 'completed') IN ('completed', 'error')";
  const document = (name: string) => `${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id`;
  return `INSERT INTO added_chunks
    WITH came AS (
      SELECT dataset_id, document_id, id, max(run_id) AS run_id FROM (
        SELECT dataset_id, document_id, id, run_id ${known} AND change = 'added'
        UNION ALL SELECT dataset_id, document_id, new_id, run_id ${known} AND new_id IS NOT NULL
      ) GROUP BY ALL
    ), held AS (
      SELECT c.dataset_id, c.document_id, c.id, c.created_at, coalesce(came.run_id, '') AS run_id, ${settled} AS settled
      FROM ${chunks} c LEFT JOIN came USING (dataset_id, document_id, id)
    ), oldest AS (
      SELECT dataset_id, document_id, min(run_id) AS run_id FROM held GROUP BY ALL HAVING bool_and(settled)
    ), runs_before AS (
      SELECT c.dataset_id, c.document_id, c.id, max(r.started_at) AS started_at
      FROM held c JOIN job.main.runs r ON r.run_id < c.run_id
      WHERE NOT EXISTS (FROM job.main.failed_reads f WHERE f.run_id = r.run_id AND ${document("f")})
      GROUP BY ALL
    )
    SELECT c.dataset_id, c.document_id, c.id
    FROM held c JOIN oldest o ON ${document("o")} AND c.run_id > o.run_id
    JOIN runs_before b ON ${document("b")} AND b.id = c.id AND ${utcTime("c.created_at")} >= date_trunc('second', ${utcTime("b.started_at")})
    WHERE NOT EXISTS (
      FROM job.main.chunk_changes u WHERE u.run_id = c.run_id AND ${document("u")}
        AND list_contains(u.differs, 'status') AND coalesce(u.status, 'completed') NOT IN ('completed', 'error')
    )`;
}
