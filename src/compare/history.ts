import { type Connection, lacksMemory } from "../duckdb/open-duckdb.js";
import { sqlText, utcTime } from "../duckdb/sql.js";
import { attachJob, attachReason, type RunInDatabase } from "./attach-job.js";
import type { MatchedKind } from "./pair.js";

/** Columns of a chunk that a person can change and a request can write. */
const editedColumns = ["content", "answer", "keywords", "enabled"] as const;

/**
 * SQL: makes the empty tables of the history. `edited_chunks`: the first values of chunk columns that later changed although the chunk
 * kept its id, so a person changed them; `had` names these columns. `edited_child_chunks`: the same for child chunks.
 * `added_chunks`: chunks that a person added.
 */
export const emptyHistory = `
  CREATE OR REPLACE TABLE edited_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, had VARCHAR[],
    content VARCHAR, answer VARCHAR, keywords VARCHAR[], enabled BOOLEAN);
  CREATE OR REPLACE TABLE edited_child_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR, content VARCHAR);
  CREATE OR REPLACE TABLE added_chunks (dataset_id VARCHAR, document_id VARCHAR, id VARCHAR)`;

/** The run whose history to load, and its job's database; undefined if there is none. */
type HistoryOf = Pick<RunInDatabase, "run_id"> & {
  readonly database: string | undefined;
  /**
   * SQL sources of the run's rows, if it is a backup of guard. The database is then that of the guarded job, which does not have this run.
   * So the changes since the last run of the job are found by comparing these rows with the newest ones in the database.
   */
  readonly backup?: Backup;
};

type Backup = Readonly<Record<MatchedKind, string>>;

/** Whether the job's database was used for its history. `none`: there is no database. */
export type HistoryUse = "used" | "not used" | "none";

/** The changes up to a run in an attached database. */
export interface KnownHistory {
  readonly catalog: string;
  readonly run_id: string;
}

/**
 * Makes the tables of the history from the changes up to a run in the job's database, which is opened read-only. A database that cannot
 * be used means no history: returns a warning as a sentence, or undefined if all went well.
 */
export async function loadEdits(
  connection: Connection,
  of: HistoryOf,
  signal: AbortSignal,
): Promise<string | undefined> {
  await connection.run(emptyHistory);
  return fromHistory(connection, of, (history) => editsSql(history, of.backup), signal);
}

/**
 * Fills `added_chunks`, once `old_chunks` has the run's chunks. Stays empty if the history cannot be used; `loadEdits` already
 * warned. Also stays empty for a backup of guard, which has details instead.
 */
export async function loadAdditions(connection: Connection, of: HistoryOf, signal: AbortSignal): Promise<void> {
  if (of.backup) return;
  await fromHistory(connection, of, (history) => [addedSql(history)], signal);
}

async function fromHistory(
  connection: Connection,
  { run_id, database, backup }: HistoryOf,
  statementsOf: (history: KnownHistory) => readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (database === undefined) return undefined;
  try {
    const reason = await attachJob(connection, { run_id, database });
    if (reason !== undefined && !backup) return warningOf(database, reason);
    for (const sql of statementsOf({ catalog: "job", run_id })) await connection.run(sql);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    if (backup) await connection.run("USE memory.main");
    await connection.run(emptyHistory);
    return warningOf(database, attachReason(error, database));
  } finally {
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
  }
}

function warningOf(database: string, reason: string): string {
  return `the history in ${database} was not used: ${reason}; edits are then recognized only by their author, and the text before them is not known`;
}

/** SQL statements that fill the tables of edits. */
export function editsSql(history: KnownHistory, backup?: Backup): readonly string[] {
  const edits = (["chunks", "child_chunks"] as const).map((kind) => editsOf(kind, history, backup !== undefined));
  return [...(backup ? latestSql(history, backup) : []), ...edits];
}

/**
 * SQL: adds the first values of columns that changed while the id stayed. If the status of a chunk changed too, indexing may have been
 * running or failed: keywords and `enabled` can then change without a person, so they do not count. `hasLatest`: also from
 * `latest_<kind>`.
 */
function editsOf(kind: MatchedKind, { catalog, run_id }: KnownHistory, hasLatest: boolean): string {
  const names = kind === "chunks" ? editedColumns : (["content"] as const);
  const calm = kind === "chunks" ? "NOT list_contains(differs, 'status')" : "true";
  const condition = (name: string) =>
    `list_contains(differs, '${name}')${name === "content" || name === "answer" ? "" : ` AND ${calm}`}`;
  const values = names.map((name) => `arg_min_null(${name}, run_id) FILTER (${condition(name)}) AS ${name}`);
  const had = names.map((name) => `CASE WHEN bool_or(${condition(name)}) THEN '${name}' END`);
  const hadColumn = kind === "chunks" ? `list_filter([${had.join(", ")}], name -> name IS NOT NULL) AS had,` : "";
  const recorded = `FROM ${catalog}.main.${kind === "chunks" ? "chunk_changes" : "child_chunk_changes"}`;
  const changes = hasLatest ? `(${recorded} UNION ALL BY NAME FROM latest_${kind})` : `(${recorded})`;
  return `INSERT INTO edited_${kind} BY NAME
    SELECT dataset_id, document_id, id, ${hadColumn} ${values.join(", ")}
    FROM ${changes}
    WHERE run_id <= ${sqlText(run_id)} AND new_id IS NULL AND (${names.map(condition).join(" OR ")})
    GROUP BY ALL`;
}

/**
 * SQL statements that make `latest_<kind>`: the rows of a backup that differ from what the job last read before it, in the form of
 * `chunk_changes`, with the values from before. The macros of the database see copies of its tables that have only the compared
 * documents.
 */
function latestSql({ catalog, run_id }: KnownHistory, backup: Backup): readonly string[] {
  const copied = ["chunks", "chunk_changes", "child_chunks", "child_chunk_changes"];
  const latest = (kind: MatchedKind) => {
    const names = kind === "chunks" ? [...editedColumns, "status"] : ["content"];
    const differs = names.map((name) => `CASE WHEN s.${name} IS DISTINCT FROM b.${name} THEN '${name}' END`);
    return `CREATE OR REPLACE TABLE memory.main.latest_${kind} AS
      SELECT ${sqlText(run_id)} AS run_id, dataset_id, document_id, id, ${names.map((name) => `s.${name}`).join(", ")},
        list_filter([${differs.join(", ")}], name -> name IS NOT NULL) AS differs
      FROM ${catalog}.main.${kind}_at(${sqlText(run_id)}) s JOIN ${backup[kind]} b USING (dataset_id, document_id, id)`;
  };
  return [
    "CREATE SCHEMA memory.of_backup; USE memory.of_backup",
    `CREATE TABLE runs AS FROM ${catalog}.main.runs`,
    ...copied.map(
      (name) =>
        `CREATE TABLE ${name} AS FROM ${catalog}.main.${name} SEMI JOIN memory.main.documents USING (dataset_id, document_id)`,
    ),
    latest("chunks"),
    latest("child_chunks"),
    "USE memory.main; DROP SCHEMA memory.of_backup CASCADE",
  ];
}

/**
 * SQL: adds the chunks that a person added between two runs. Such a chunk first appears in a run where other chunks of its document
 * kept their ids, and was created after the previous run began. An older chunk was not added: the previous run left it out, because
 * of a filter or an unfinished list. Skips a document that was being indexed, because its new chunks may come from that.
 */
export function addedSql({ catalog, run_id }: KnownHistory): string {
  const known = `FROM ${catalog}.main.chunk_changes WHERE run_id <= ${sqlText(run_id)}`;
  const finished = "coalesce(status, 'completed') IN ('completed', 'error')";
  const document = (name: string) => `${name}.dataset_id = c.dataset_id AND ${name}.document_id = c.document_id`;
  return `INSERT INTO added_chunks
    WITH came AS (
      SELECT dataset_id, document_id, id, max(run_id) AS run_id FROM (
        SELECT dataset_id, document_id, id, run_id ${known} AND change = 'added'
        UNION ALL SELECT dataset_id, document_id, new_id, run_id ${known} AND new_id IS NOT NULL
      ) GROUP BY ALL
    ), held AS (
      SELECT c.dataset_id, c.document_id, c.id, c.created_at, coalesce(came.run_id, '') AS run_id, ${finished} AS finished
      FROM old_chunks c LEFT JOIN came USING (dataset_id, document_id, id)
    ), oldest AS (
      SELECT dataset_id, document_id, min(run_id) AS run_id FROM held GROUP BY ALL HAVING bool_and(finished)
    ), runs_before AS (
      SELECT c.dataset_id, c.document_id, c.id, max(r.started_at) AS started_at
      FROM held c JOIN ${catalog}.main.runs r ON r.run_id < c.run_id
      WHERE NOT EXISTS (FROM ${catalog}.main.failed_reads f WHERE f.run_id = r.run_id AND ${document("f")})
      GROUP BY ALL
    )
    SELECT c.dataset_id, c.document_id, c.id
    FROM held c JOIN oldest o ON ${document("o")} AND c.run_id > o.run_id
    JOIN runs_before b ON ${document("b")} AND b.id = c.id AND ${utcTime("c.created_at")} >= date_trunc('second', ${utcTime("b.started_at")})
    WHERE NOT EXISTS (
      FROM ${catalog}.main.chunk_changes u WHERE u.run_id = c.run_id AND ${document("u")}
        AND list_contains(u.differs, 'status') AND coalesce(u.status, 'completed') NOT IN ('completed', 'error')
    )`;
}
