import { attachJob, attachReason } from "../compare/attach-job.js";
import { tables } from "../database/tables.js";
import { type Connection, lacksMemory } from "../duckdb/open-duckdb.js";
import { rowsOf } from "../duckdb/read-rows.js";
import { sqlText, sqlTypes, utcTime } from "../duckdb/sql.js";
import { checkRows, loadRows, uncheckedRows } from "../dump/load.js";
import type { DumpTable } from "../dump/manifest.js";
import { type Dump, databaseOf } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import { columns, type Kind } from "../rows/columns.js";
import { causeFirst } from "../words.js";
import type { ReportOptions } from "./report-options.js";

interface LoadOptions extends Pick<ReportOptions, "database" | "signal" | "progress"> {
  /** Whether a concurrent verification hashes the files. If so, loading does not hash them again. */
  readonly isVerified: boolean;
}

/** Maximum characters to keep: of a content, and of a name, status or error, because the service does not limit them. */
const [beginning, longest] = [160, 300];

/** SQL: whether the content of a chunk has more than white space. A blank content gets no hash. */
export const isNotBlank = "regexp_matches(content, '[^[:space:]]')";

/** SQL: the time of the last change: the newer of creation and update. */
const changedAt = `greatest(${utcTime("created_at")}, ${utcTime("updated_at")})`;

const short = (name: string) => `left(${name}, ${longest}) AS ${name}`;

/** SQL: the columns of readings that a report needs. */
export const readingsSql = columns.indexing_status
  .filter(({ name }) => name !== "extra")
  .map(({ name, type }) => (type === "time" ? `${utcTime(name)} AS ${name}` : type === "text" ? short(name) : name))
  .join(", ");

/** SQL: the columns that a report needs, by kind. Contents are truncated. */
const needed = {
  chunks: `dataset_id, document_id, id, position, coalesce(word_count, length(content)) AS characters, tokens, hit_count,
    enabled, ${short("status")}, error IS NOT NULL AS has_error, ${short("error")}, ${utcTime("created_at")} AS created_at,
    ${changedAt} AS changed_at, ${utcTime("disabled_at")} AS disabled_at, ${short("disabled_by")},
    CASE WHEN ${isNotBlank} THEN md5_number(content) END AS content_hash, md5_number(coalesce(answer, '')) AS answer_hash,
    left(content, ${beginning}) AS beginning`,
  child_chunks: `dataset_id, document_id, segment_id, id, position, ${changedAt} AS changed_at,
    left(content, ${beginning}) AS beginning`,
  document_info: `dataset_id, document_id, ${short("indexing_status")}, ${short("display_status")},
    ${short("dataset_name")}, ${short("name")}`,
  document_details: `dataset_id, document_id, ${short("name")}`,
  datasets: `dataset_id, ${short("name")}`,
  indexing_status: readingsSql,
} as const;

/** The kinds that a report queries. */
export const kinds = Object.keys(needed) as readonly (keyof typeof needed)[];

/**
 * Loads the data for a report into tables named like their kinds, and into `documents` (from the manifest) and `names`. Reads each
 * file once. Times are TIMESTAMP in UTC; `row` and `nr` count from 0 in the order of the dump. Attaches the job's database as `job`;
 * returns the reason, as a sentence, if it cannot. Throws StopError if a file differs from what the run wrote, and UsageError if
 * neither a file nor the database has the rows.
 */
export async function loadTables(connection: Connection, dump: Dump, options: LoadOptions): Promise<string | null> {
  const noHistory = await openHistory(connection, dump, options);
  const hasFiles = dump.tablesOf(["chunks"], { guarded: true }) !== undefined;
  if (!hasFiles) await checkNewest(connection, dump, noHistory);
  const files = new Map(
    kinds.flatMap((kind) => dump.tablesOf([kind], { guarded: true }) ?? []).map((file) => [file.kind, file]),
  );
  for (const { bytes } of files.values()) options.progress.expected += bytes;
  for (const kind of kinds) {
    const statement = (rows: string) => `SELECT row_number() OVER () - 1 AS row, ${needed[kind]} FROM ${rows}`;
    const file = files.get(kind);
    if (file) await loadFile(connection, dump, file, statement, options);
    else
      await connection.run(`CREATE TABLE ${kind} AS ${statement(hasFiles ? noRows(kind) : databaseRows(dump, kind))}`);
  }
  await appendDocuments(connection, dump);
  await connection.run(namesSql);
  return noHistory;
}

/** Loads one file. Throws StopError if it differs from what the run wrote. */
async function loadFile(
  connection: Connection,
  dump: Dump,
  file: DumpTable,
  statement: (rows: string) => string,
  { isVerified, signal, progress }: LoadOptions,
): Promise<void> {
  const unguarded = file.format === "csv" && dump.manifest.options.output.csv_safe;
  const reading = { signal, progress, step: `reading ${file.path}`, exact: false, unguarded };
  const table = { name: file.kind, statement };
  const load = async (rows: Awaited<ReturnType<typeof checkRows>>) => loadRows(connection, dump, rows, table);
  if (!isVerified) return load(await checkRows(dump, file, reading));
  progress.step = reading.step;
  progress.done += file.bytes;
  await load(await uncheckedRows(dump, file, reading)).catch(async (error: unknown) => {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await load(await checkRows(dump, file, reading)); // a row may be longer than usual
  });
}

/** SQL: the columns of a kind, without rows. */
function noRows(kind: Kind): string {
  const cells = columns[kind].map(({ name, type }) => `NULL::${sqlTypes[type]} AS "${name}"`);
  return `(SELECT ${cells.join(", ")} WHERE false)`;
}

/** SQL: the rows of a run in the database. */
function databaseRows({ manifest: { run_id, started_at, finished_at } }: Dump, kind: Kind): string {
  const isOfRun =
    kind === "indexing_status"
      ? `${utcTime("captured_at")} BETWEEN ${sqlTime(started_at)} AND ${sqlTime(finished_at)}`
      : `run_id = ${sqlText(run_id)}`;
  return `(FROM job.main.${kind} WHERE ${isOfRun})`;
}

/** Throws UsageError unless the database holds this run, because a later run replaces its rows. */
async function checkNewest(connection: Connection, { folder, manifest }: Dump, reason: string | null): Promise<void> {
  const newest =
    reason === null ? (await rowsOf(connection, "SELECT max(run_id) AS run_id FROM job.main.runs"))[0] : {};
  if (newest?.run_id === manifest.run_id) return;
  const why = reason ?? `That has a newer run, ${newest?.run_id}, in its place: report on that one.`;
  const wrote = `its run wrote ${manifest.options.output.formats.join(", ")} alone, whose rows are in the database of the job`;
  const message = `${wrote}. ${why} Runs with jsonl or parquet in output.formats keep their rows`;
  throw new UsageError("The rows of the run are not there:", [{ path: folder, message }]);
}

/** Fills the table `documents` from the manifest, in its order. */
async function appendDocuments(connection: Connection, { manifest }: Dump): Promise<void> {
  await connection.run(`CREATE TABLE documents (nr BIGINT, dataset_id VARCHAR, document_id VARCHAR, status VARCHAR, total BIGINT,
    chunk_count BIGINT, child_chunk_count BIGINT, error VARCHAR)`);
  const appender = await connection.createAppender("documents");
  const append = (value: string | number | null) => {
    if (value === null) appender.appendNull();
    else if (typeof value === "number") appender.appendBigInt(BigInt(value));
    else appender.appendVarchar(value);
  };
  for (const [nr, row] of manifest.documents.entries()) {
    for (const value of [nr, row.dataset_id, row.document_id, row.status, row.total]) append(value);
    const error = row.error === null ? null : causeFirst(row.error).slice(0, longest);
    for (const value of [row.chunk_count, row.child_chunk_count, error]) append(value);
    appender.endRow();
  }
  appender.closeSync();
}

/** SQL: creates `names`, the names of documents and their datasets if the service reported them. */
const namesSql = `CREATE TABLE names AS
  SELECT dataset_id, document_id, coalesce(any_value(l.dataset_name), any_value(s.name)) AS dataset_name,
    coalesce(any_value(l.name), any_value(d.name)) AS document_name
  FROM (SELECT DISTINCT dataset_id, document_id FROM documents UNION SELECT DISTINCT dataset_id, document_id FROM document_info) m
  LEFT JOIN document_info l USING (dataset_id, document_id) LEFT JOIN document_details d USING (dataset_id, document_id)
  LEFT JOIN datasets s USING (dataset_id)
  GROUP BY dataset_id, document_id`;

/** The database tables that a report queries. */
const asked = ["runs", "documents", "chunk_changes", "child_chunk_changes", "document_changes", "indexing_status"];

/**
 * Attaches the job's database as `job`, read-only, if it has the run. Returns null, or the reason as a sentence: a report then has no
 * history. The reason does not show the path, because you may pass the report on.
 */
async function openHistory(connection: Connection, dump: Dump, options: LoadOptions): Promise<string | null> {
  const path = options.database ?? (await databaseOf(dump));
  if (path === undefined) return "There is no history, because there is no database of the job beside the run.";
  const sentence = (reason: string) => `The history in the database of the job was not used: ${reason}.`;
  try {
    const reason = await attachJob(connection, { database: path, run_id: dump.manifest.run_id });
    if (reason === undefined) {
      for (const name of asked) await connection.run(`${columnsOf(name)} FROM job.main.${name} LIMIT 0`);
      return null;
    }
    await connection.run("DETACH DATABASE job");
    return sentence(reason);
  } catch (error) {
    options.signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
    return sentence(attachReason(error, path));
  }
}

/** SQL: selects every known column, and so fails if one is missing. */
function columnsOf(table: string): string {
  return `SELECT ${(tables[table]?.columns ?? []).map(({ name }) => `"${name}"`).join(", ")}`;
}

/** SQL: a time of a manifest as TIMESTAMP in UTC. */
export function sqlTime(iso: string): string {
  return `make_timestamp(${Date.parse(iso)} * 1000)`;
}
