import { attachJob, attachReason } from "../../database/attach-job.js";
import { tables } from "../../database/tables.js";
import { type Connection, lacksMemory } from "../../duckdb/open-duckdb.js";
import { rowsOf } from "../../duckdb/read-rows.js";
import { sqlText, sqlTypes, utcTime } from "../../duckdb/sql.js";
import { checkRows, loadRows } from "../../dump/load.js";
import { type Dump, databaseOf } from "../../dump/open-dump.js";
import { UsageError } from "../../errors.js";
import type { ReadProgress } from "../../read-progress.js";
import { columns, type Kind } from "../../rows/columns.js";

export interface LoadOptions extends HistoryOptions, ReadOptions {
  /** False: no name, no error and no text is loaded. */
  readonly content: boolean;
}

/** The tables that were loaded, and what they lack. */
export interface LoadedTables {
  /** Whether the database of the job is attached as `job`. It may have later runs: they are left out by `run_id <=` the run. */
  readonly hasHistory: boolean;
  /** Why there is no history, as a sentence; null where there is one. */
  readonly reason: string | null;
}

/** The kinds of which a report asks something. */
const wanted = ["chunks", "child_chunks", "document_info", "document_details", "datasets", "indexing_status"] as const;

/** The characters of a content that are shown. */
const beginning = 160;

/** SQL: the content of a chunk has more than white space. Others have no hash. */
export const isNotBlank = "regexp_matches(content, '[^[:space:]]')";

/**
 * Loads what a report needs of a dump into tables: `chunks`, `child_chunks`, `documents`, `document_info`, `indexing_status`. Each file
 * is read once, and no content is kept as a whole. Times are TIMESTAMP in UTC; `row` and `nr` count from 0 in the order of the dump.
 * StopError if a file is not as its run wrote it; UsageError if the rows are nowhere.
 */
export async function loadTables(connection: Connection, dump: Dump, options: LoadOptions): Promise<LoadedTables> {
  const reason = await openHistory(connection, dump, options);
  const make = await openRows(connection, dump, { ...options, reason, kinds: wanted });
  await make("chunk_rows", "chunks", (rows) => chunksSql(rows, options.content));
  await make("child_chunk_rows", "child_chunks", (rows) => childrenSql(rows, options.content));
  for (const table of ["chunks", "child_chunks"])
    await connection.run(`CREATE VIEW ${table} AS SELECT rowid AS row, * FROM ${table.slice(0, -1)}_rows`);
  await loadDocuments(connection, make, dump, options.content);
  await loadReadings(connection, make, dump, { hasHistory: reason === null, content: options.content });
  return { hasHistory: reason === null, reason };
}

function chunksSql(rows: string, content: boolean): string {
  return `SELECT dataset_id, document_id, id, position, coalesce(word_count, length(content)) AS characters, tokens, hit_count,
    enabled, ${shortSql("status")}, error IS NOT NULL AS has_error, ${contentSql(content, "error")},
    ${utcTime("created_at")} AS created_at, ${changedAt} AS changed_at, ${utcTime("disabled_at")} AS disabled_at, disabled_by,
    CASE WHEN ${isNotBlank} THEN md5_number(content) END AS content_hash, md5_number(answer) AS answer_hash,
    ${beginningSql(content)} FROM ${rows}`;
}

function childrenSql(rows: string, content: boolean): string {
  return `SELECT dataset_id, document_id, segment_id, id, position, ${changedAt} AS changed_at,
    ${beginningSql(content)} FROM ${rows}`;
}

function beginningSql(content: boolean): string {
  return `${content ? `left(content, ${beginning})` : "NULL::VARCHAR"} AS beginning`;
}

/** SQL: the newer of the two times that are known. */
const changedAt = `greatest(${utcTime("created_at")}, ${utcTime("updated_at")})`;

/** Makes the table `indexing_status` of the readings of the run, and of earlier ones of the same documents that the history has. */
async function loadReadings(
  connection: Connection,
  make: MakeTable,
  { manifest }: Dump,
  { hasHistory, content }: Pick<LoadedTables, "hasHistory"> & Pick<LoadOptions, "content">,
): Promise<void> {
  const cells = columns.indexing_status.flatMap(({ name, type }) => {
    if (name === "extra") return [];
    if (name === "error") return [contentSql(content, name)];
    if (name === "indexing_status") return [shortSql(name)];
    return [type === "time" ? `${utcTime(name)} AS ${name}` : name];
  });
  await make("indexing_status", "indexing_status", (rows) => `SELECT ${cells.join(", ")} FROM ${rows}`);
  if (!hasHistory) return;
  const key = "dataset_id, batch, document_id";
  await connection.run(`INSERT INTO indexing_status
    FROM (SELECT ${cells.join(", ")} FROM job.main.indexing_status) SEMI JOIN indexing_status USING (${key})
      ANTI JOIN indexing_status USING (captured_at, ${key})
    WHERE captured_at <= ${sqlTime(manifest.finished_at)}`);
}

/**
 * Makes the tables `documents`, of the manifest and with names, and `document_info`, of what the service lists. Without content, names
 * and errors are null.
 */
async function loadDocuments(connection: Connection, make: MakeTable, dump: Dump, content: boolean): Promise<void> {
  const cell = (column: string, name: string) => contentSql(content, column, name);
  const states = ["indexing_status", "display_status"].map((name) => shortSql(name)).join(", ");
  await make(
    "listed",
    "document_info",
    (rows) => `SELECT dataset_id, document_id, ${states}, enabled, archived, ${cell("dataset_name", "dataset_name")},
      ${cell("name", "document_name")} FROM ${rows}`,
  );
  await make(
    "detailed",
    "document_details",
    (rows) => `SELECT dataset_id, document_id, ${cell("name", "document_name")} FROM ${rows}`,
  );
  await make("described", "datasets", (rows) => `SELECT dataset_id, ${cell("name", "dataset_name")} FROM ${rows}`);
  await connection.run(`CREATE VIEW document_info AS SELECT * EXCLUDE (dataset_name, document_name) FROM listed`);
  await appendDocuments(connection, dump);
  await connection.run(`CREATE TABLE documents AS
    SELECT m.* REPLACE (${cell("m.error", "error")}), coalesce(l.dataset_name, s.dataset_name) AS dataset_name, coalesce(l.document_name, d.document_name) AS document_name
    FROM read_documents m
    LEFT JOIN (${firstOf("listed", "dataset_id, document_id")}) l USING (dataset_id, document_id)
    LEFT JOIN (${firstOf("detailed", "dataset_id, document_id")}) d USING (dataset_id, document_id)
    LEFT JOIN (${firstOf("described", "dataset_id")}) s USING (dataset_id)
    ORDER BY m.nr`);
}

/** SQL: one row for each key. */
function firstOf(table: string, key: string): string {
  return `FROM ${table} QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY rowid) = 1`;
}

/** Makes the table `read_documents` of the documents of the manifest, in their order. */
async function appendDocuments(connection: Connection, { manifest }: Dump): Promise<void> {
  await connection.run(`CREATE TABLE read_documents (nr BIGINT, dataset_id VARCHAR, document_id VARCHAR, doc_form VARCHAR,
    status VARCHAR, total BIGINT, chunk_count BIGINT, child_chunk_count BIGINT, error VARCHAR)`);
  const appender = await connection.createAppender("read_documents");
  const append = {
    text: (value: string | null) => (value === null ? appender.appendNull() : appender.appendVarchar(value)),
    count: (value: number | null) => (value === null ? appender.appendNull() : appender.appendBigInt(BigInt(value))),
  };
  try {
    for (const [nr, row] of manifest.documents.entries()) {
      append.count(nr);
      for (const text of [row.dataset_id, row.document_id, row.doc_form, row.status]) append.text(text);
      for (const count of [row.total, row.chunk_count, row.child_chunk_count]) append.count(count);
      append.text(row.error);
      appender.endRow();
    }
  } finally {
    appender.closeSync();
  }
}

interface HistoryOptions {
  /** The database of the job; undefined: the one beside the folder of runs, if it is there. */
  readonly database: string | undefined;
  readonly signal: AbortSignal;
}

/** Tables of the database that a report asks. */
const asked = ["runs", "documents", "failed_reads", "document_changes", "indexing_status"];
const changes = ["chunk_changes", "child_chunk_changes"];

/**
 * Attaches the database of the job as `job`, to be read only, if it has the run. Whatever is wrong with it, there is no history: gives
 * the reason as a sentence, null if all went well. The path is not in it, for a report may go to somebody else.
 */
async function openHistory(
  connection: Connection,
  dump: Dump,
  { database = undefined, signal }: HistoryOptions,
): Promise<string | null> {
  const path = database ?? (await databaseOf(dump));
  if (path === undefined) return "There is no history, because there is no database of the job beside the run.";
  const { run_id } = dump.manifest;
  try {
    const reason = await attachJob(connection, { database: path, run_id });
    if (reason === undefined) {
      for (const name of [...asked, ...changes])
        await connection.run(`${columnsOf(name)} FROM job.main.${name} LIMIT 0`);
      return null;
    }
    await connection.run("DETACH DATABASE job");
    return sentenceOf(reason);
  } catch (error) {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
    return sentenceOf(attachReason(error, path));
  }
}

/** SQL: fails where a column is not there. */
function columnsOf(table: string): string {
  return `SELECT ${(tables[table]?.columns ?? []).map(({ name }) => `"${name}"`).join(", ")}`;
}

function sentenceOf(reason: string): string {
  return `The history in the database of the job was not used: ${reason}.`;
}

interface ReadOptions {
  readonly signal: AbortSignal;
  /** Updated while files are read. */
  readonly progress: ReadProgress;
}

interface RowsOptions extends ReadOptions {
  /** Why the database is not attached; null where it is. */
  readonly reason: string | null;
  /** The kinds that are wanted. */
  readonly kinds: readonly Kind[];
}

/** Makes a table of a statement about the rows of a kind, of which a dump may have none. StopError if its file is not as listed. */
type MakeTable = (table: string, kind: Kind, statement: (rows: string) => string) => Promise<void>;

/**
 * Opens the rows of a dump, in the best of its formats. Those of a run that wrote DuckDB alone are in the database of its job, which is
 * attached as `job` unless there is a reason why not. UsageError where that has them no more.
 */
async function openRows(
  connection: Connection,
  dump: Dump,
  { reason, kinds, ...options }: RowsOptions,
): Promise<MakeTable> {
  const hasFiles = dump.tablesOf(["chunks"], { guarded: true }) !== undefined;
  if (!hasFiles) await checkNewest(connection, dump, reason);
  const files = kinds.flatMap((kind) => dump.tablesOf([kind], { guarded: true }) ?? []);
  options.progress.expected += files.reduce((sum, { bytes }) => sum + bytes, 0);
  return async (name, kind, statement) => {
    const [file] = dump.tablesOf([kind], { guarded: true }) ?? [];
    if (file) {
      const unguarded = file.format === "csv" && dump.manifest.options.output.csv_safe;
      const reading = { ...options, step: `reading ${file.path}`, exact: false, unguarded };
      await loadRows(connection, dump, await checkRows(dump, file, reading), { name, statement });
    } else {
      const rows = hasFiles ? noRows(kind) : databaseRows(dump, kind);
      await connection.run(`CREATE TABLE ${name} AS ${statement(rows)}`);
    }
  };
}

/** SQL: the columns of a kind, and no row. */
function noRows(kind: Kind): string {
  const cells = columns[kind].map(({ name, type }) => `NULL::${sqlTypes[type]} AS "${name}"`);
  return `(SELECT ${cells.join(", ")} WHERE false)`;
}

/** SQL: the rows that the database has of a run. */
function databaseRows({ manifest: { run_id, started_at, finished_at } }: Dump, kind: Kind): string {
  const isOfRun =
    kind === "indexing_status"
      ? `${utcTime("captured_at")} BETWEEN ${sqlTime(started_at)} AND ${sqlTime(finished_at)}`
      : `run_id = ${sqlText(run_id)}`;
  return `(FROM job.main.${kind} WHERE ${isOfRun})`;
}

/** A later run replaces rows in the database. */
async function checkNewest(connection: Connection, { folder, manifest }: Dump, reason: string | null): Promise<void> {
  const newest =
    reason === null ? (await rowsOf(connection, "SELECT max(run_id) AS run_id FROM job.main.runs"))[0] : {};
  if (newest?.run_id === manifest.run_id) return;
  const why = reason ?? `That has a newer run, ${newest?.run_id}, in its place: report on that one.`;
  const wrote = `its run wrote ${manifest.options.output.formats.join(", ")} alone, whose rows are in the database of the job`;
  const message = `${wrote}. ${why} Runs with jsonl or parquet in output.formats keep their rows`;
  throw new UsageError("The rows of the run are not there:", [{ path: folder, message }]);
}

/** Characters of a name, a status or an error that are shown; the service may send any length. */
const longest = 300;

/** SQL: a time of a manifest as TIMESTAMP in UTC. */
function sqlTime(iso: string): string {
  return `make_timestamp(${Date.parse(iso)} * 1000)`;
}

/** SQL: the beginning of a short text, such as a status, under its name or another one. */
function shortSql(column: string, name = column): string {
  return `left(${column}, ${longest}) AS ${name}`;
}

/** SQL: the same of a text that is content: null where that is not wanted. */
function contentSql(content: boolean, column: string, name = column): string {
  return content ? shortSql(column, name) : `NULL::VARCHAR AS ${name}`;
}
