import { relative } from "node:path";
import { attachJob, attachReason } from "../compare/attach-job.js";
import { tables } from "../database/tables.js";
import { type Connection, lacksMemory } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { sqlText, sqlTypes, utcTime } from "../duckdb/sql.js";
import { type CheckedRows, checkRows, loadList, loadRows, uncheckedRows } from "../dump/load.js";
import type { DumpTable, Manifest } from "../dump/manifest.js";
import { type Dump, databaseOf } from "../dump/open-dump.js";
import { UsageError } from "../errors.js";
import type { ReadProgress } from "../read-progress.js";
import { columns, type Kind } from "../rows/columns.js";
import { causeFirst } from "../words.js";
import { numberOf, type Table } from "./page/table.js";
import { databaseName, type NameFolder, type RunName, runName, sqlCommand } from "./report-path.js";

/** All settings of a report. */
export interface ReportOptions {
  /** The run folder. */
  readonly folder: string;
  /** The folder of an older run, to show the losses since then; undefined: no comparison. */
  readonly against: string | undefined;
  /** The job's database, for its history; undefined: the database next to the folder of runs, if there is one. */
  readonly database: string | undefined;
  /** Whether to show texts: contents, names and errors. */
  readonly content: boolean;
  /** Whether to read and check every file of the run again. */
  readonly verify: boolean;
  /** The maximum memory of DuckDB, such as `800MB`. */
  readonly memory: string;
  /** Names folders in the page's commands; undefined: use their paths. */
  readonly nameFolder: NameFolder | undefined;
  readonly signal: AbortSignal;
  /** Updated during the work. */
  readonly progress: ReadProgress;
}

/** The run folder and any other settings. By default, the report shows all texts, verifies the run and compares it with no other. */
export type ReportRequest = Pick<ReportOptions, "folder"> & Partial<ReportOptions>;

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

const kinds = Object.keys(needed) as readonly (keyof typeof needed)[];

/** The files that a report reads. */
export function filesOf(dump: Dump): readonly DumpTable[] {
  return kinds.flatMap((kind) => dump.tablesOf([kind], { guarded: true }) ?? []);
}

/**
 * Loads the data for a report into tables named like their kinds, and into `documents` (from the manifest) and `names`. Reads each
 * file once. Times are TIMESTAMP in UTC; `row` and `nr` count from 0 in the order of the dump. Attaches the job's database as `job`;
 * returns the reason, as a sentence, if it cannot. Throws StopError if a file differs from what the run wrote, and UsageError if
 * neither a file nor the database has the rows.
 */
export async function loadTables(connection: Connection, dump: Dump, options: LoadOptions): Promise<string | null> {
  const noHistory = await openHistory(connection, dump, options);
  const files = filesOf(dump);
  const hasFiles = files.some(({ kind }) => kind === "chunks");
  if (!hasFiles) await checkNewest(connection, dump, noHistory);
  for (const { bytes } of files) options.progress.expected += bytes;
  for (const kind of kinds) {
    const statement = (rows: string) => `SELECT row_number() OVER () - 1 AS row, ${needed[kind]} FROM ${rows}`;
    const file = files.find((each) => each.kind === kind);
    if (file) await loadFile(connection, dump, file, statement, options);
    else
      await connection.run(`CREATE TABLE ${kind} AS ${statement(hasFiles ? noRows(kind) : databaseRows(dump, kind))}`);
  }
  const shown = (error: string | null) => error && causeFirst(error).slice(0, longest);
  const documents = dump.manifest.documents.map((row, nr) => ({ ...row, nr, error: shown(row.error) }));
  await loadList(connection, "documents", documents, documentColumns);
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
  const load = (rows: CheckedRows) => loadRows(connection, dump, rows, { name: file.kind, statement });
  if (!isVerified) return load(await checkRows(dump, file, reading));
  progress.step = reading.step;
  progress.done += file.bytes;
  await load(await uncheckedRows(dump, file, reading)).catch(async (error: unknown) => {
    signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    await load(await checkRows(dump, file, reading)); // without a check, rows of 16 MB or more cannot be loaded: try again with the check, which measures the rows
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
  const [newest] = reason === null ? await rowsOf(connection, "SELECT max(run_id) AS run_id FROM job.main.runs") : [];
  if (newest?.run_id === manifest.run_id) return;
  const why = reason ?? `The database now has a newer run, ${newest?.run_id}, instead: report on that one.`;
  const wrote = `its run wrote ${manifest.options.output.formats.join(", ")} alone, whose rows are in the database of the job`;
  const message = `${wrote}. ${why} Runs with jsonl or parquet in output.formats keep their rows`;
  throw new UsageError("The rows of the run are not there:", [{ path: folder, message }]);
}

/** The columns of `documents`; `nr` is the position in the manifest. */
const documentColumns = {
  ...{ nr: "BIGINT", dataset_id: "VARCHAR", document_id: "VARCHAR", status: "VARCHAR", error: "VARCHAR" },
  ...{ total: "BIGINT", chunk_count: "BIGINT", child_chunk_count: "BIGINT" },
};

/** SQL: creates `names`, the names of documents and their datasets if the service reported them. */
const namesSql = `CREATE TABLE names AS
  SELECT dataset_id, document_id, coalesce(any_value(l.dataset_name), any_value(s.name)) AS dataset_name,
    coalesce(any_value(l.name), any_value(d.name)) AS document_name
  FROM (SELECT DISTINCT dataset_id, document_id FROM documents UNION SELECT DISTINCT dataset_id, document_id FROM document_info) m
  LEFT JOIN document_info l USING (dataset_id, document_id) LEFT JOIN document_details d USING (dataset_id, document_id)
  LEFT JOIN datasets s USING (dataset_id)
  GROUP BY dataset_id, document_id`;

/**
 * Attaches the job's database as `job`, read-only, if it has the run and every known column. Returns null, or the reason as a
 * sentence: a report then has no history. The reason does not show the path, because you may pass the report on.
 */
async function openHistory(connection: Connection, dump: Dump, options: LoadOptions): Promise<string | null> {
  const path = options.database ?? (await databaseOf(dump));
  if (path === undefined) return "There is no history, because there is no database of the job beside the run.";
  let reason: string | undefined;
  try {
    reason = await attachJob(connection, { database: path, run_id: dump.manifest.run_id });
    if (reason === undefined) {
      for (const [table, { columns }] of Object.entries(tables))
        await connection.run(`SELECT ${columns.map(({ name }) => name).join(", ")} FROM job.main.${table} LIMIT 0`);
      return null;
    }
  } catch (error) {
    options.signal.throwIfAborted();
    if (lacksMemory(error)) throw error;
    reason = attachReason(error, path);
  }
  await connection.run("DETACH DATABASE IF EXISTS job").catch(() => {});
  return `The history in the database of the job was not used: ${reason}.`;
}

/** SQL: a time of a manifest as TIMESTAMP in UTC. */
export function sqlTime(iso: string): string {
  return `make_timestamp(${Date.parse(iso)} * 1000)`;
}

/** Maximum rows to read per table. The page shows fewer if they are long. */
const mostRows = 300;

interface TableRequest extends Pick<Table, "caption" | "columns" | "query"> {
  /** SQL: all rows, with dataset_id and document_id. */
  readonly select: string;
  /** SQL: the order of the rows. It must leave no ties, so that the report is always the same. */
  readonly order: string;
}

type SourceOptions = Pick<ReportOptions, "content" | "database" | "nameFolder"> & Pick<Source, "noHistory">;

/** A run loaded into tables by `loadTables`, and the commands that query it. */
export class Source {
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly content: boolean;
  /** A sentence on why the job's database is not attached as `job`; null if it is. */
  readonly noHistory: string | null;
  /** The run folder; undefined if its rows are only in the job's database. */
  readonly run: RunName | undefined;
  /** The newest run of the job, for commands that start another run. */
  readonly job: RunName;
  readonly #database: RunName;

  constructor(connection: Connection, dump: Dump, options: SourceOptions) {
    const { folder, manifest } = dump;
    const { content, database, nameFolder, noHistory } = options;
    this.connection = connection;
    this.manifest = manifest;
    this.content = content;
    this.noHistory = noHistory;
    this.run = dump.tablesOf(["chunks"], { guarded: true }) && runName(folder, manifest, nameFolder);
    this.job = databaseName(folder, manifest, nameFolder);
    this.#database = database === undefined ? this.job : { word: relative(".", database), flags: [] };
  }

  /** The rows of a statement. Without content, texts from the service are removed. */
  async rows(sql: string): Promise<readonly SqlRow[]> {
    const rows = await rowsOf(this.connection, sql);
    return this.content ? rows : rows.map(withoutTexts);
  }

  /** The only row of a statement. */
  async row(sql: string): Promise<SqlRow> {
    return (await this.rows(sql))[0] ?? {};
  }

  /** Counts the rows of a table, and reads the first rows with their document names. */
  async table({ caption, columns, select, order, query }: TableRequest): Promise<Table> {
    const { total } = await this.row(`SELECT count(*) AS total FROM (${select})`);
    const rows = await this.rows(
      `FROM (FROM (${select}) ORDER BY ${order} LIMIT ${mostRows}) LEFT JOIN names USING (dataset_id, document_id)
      ORDER BY ${order}`,
    );
    return { caption, columns, rows, total: numberOf(total), query };
  }

  /** SQL: the rows of a kind, in a statement for `askRun`. */
  rowsOfRun(kind: Kind): string {
    return this.run ? kind : `(FROM ${kind} WHERE run_id = ${sqlText(this.manifest.run_id)})`;
  }

  /** The command that queries the run. The statement gets its rows from `rowsOfRun`. */
  askRun(statement: string): string {
    return sqlCommand(this.run ?? this.#database, statement);
  }

  /** The command that queries the job's database. */
  askDatabase(statement: string): string {
    return sqlCommand(this.#database, statement);
  }
}

/** The states that a report without texts may show: those of the service and our own. */
const knownStates = new Set([
  ...["waiting", "parsing", "cleaning", "splitting", "indexing", "completed", "error", "paused", "re_segment"],
  ...["available", "archived", "disabled", "enabled", "queuing", "unknown"],
  ...["complete", "partial", "failed", "unstable", "fresh", "stale", "never read", "not in this run"],
]);
const stateNames = new Set(["status", "state", "indexing_status", "display_status"]);
const harmless = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|-?\d+(\.\d+)?)$/;

/** Matches the names of columns whose values a report without texts never shows, even if they look like numbers. */
const textName =
  /(^|_)(content|answer|beginning|text|names?|title|error|reason|by|keywords?|summary|before|after|now)$/;

/** Keeps only numbers, UUIDs and known states of a row. Any other state becomes `other`. */
export function withoutTexts<Row extends object>(row: Row): Row {
  const cells = Object.entries(row).map(([name, value]: [string, unknown]) => {
    if (typeof value === "string" && stateNames.has(name)) return [name, knownStates.has(value) ? value : "other"];
    if (typeof value === "string" && (textName.test(name) || !harmless.test(value))) return [name, null];
    return [name, value];
  });
  return Object.fromEntries(cells);
}
