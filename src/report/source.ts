import { relative } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { sqlText } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import type { Kind } from "../rows/columns.js";
import { numberOf, type Table } from "./page/table.js";
import type { ReportOptions } from "./report-options.js";
import { databaseName, type RunName, runName, sqlCommand } from "./report-path.js";

/** Maximum rows to read per table. The page shows fewer if they are long. */
const mostRows = 300;

interface TableRequest extends Pick<Table, "caption" | "columns" | "query"> {
  /** SQL: all rows, with dataset_id and document_id. */
  readonly select: string;
  /** SQL: their order. It must be total. */
  readonly order: string;
}

interface SourceOptions extends Pick<ReportOptions, "content" | "database" | "nameFolder"> {
  /** A sentence on why the job's database is not attached as `job`; null if it is. */
  readonly noHistory: string | null;
}

/** A run loaded into tables by `loadTables`, and the commands that query it. */
export class Source {
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly content: boolean;
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

/** Known states of documents, chunks and readings, both the service's and ours. */
const knownStates = new Set([
  ...["waiting", "parsing", "cleaning", "splitting", "indexing", "completed", "error", "paused", "re_segment"],
  ...["available", "archived", "disabled", "enabled", "queuing", "unknown"],
  ...["complete", "partial", "failed", "unstable", "fresh", "stale", "never read", "not in this run"],
]);
const stateNames = new Set(["status", "state", "indexing_status", "display_status"]);
const harmless = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|-?\d+(\.\d+)?)$/;

/** Names of text columns. Their content is arbitrary, even if it looks like a number. */
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
