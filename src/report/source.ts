import { relative } from "node:path";
import type { Connection } from "../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../duckdb/read-rows.js";
import { sqlText } from "../duckdb/sql.js";
import type { Manifest } from "../dump/manifest.js";
import type { Dump } from "../dump/open-dump.js";
import type { Kind } from "../rows/columns.js";
import { type Column, numberOf, type Table } from "./page/table.js";
import type { ReportOptions } from "./report-options.js";
import { databaseName, type RunName, runName, sqlCommand } from "./report-path.js";

/** Rows that a table reads at the most; the page shows fewer where they are long. */
const mostRows = 300;

interface TableRequest {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** SQL: all of the rows, with dataset_id and document_id. */
  readonly select: string;
  /** SQL: their order, which no two of them share. */
  readonly order: string;
  /** The command that prints all of them; null where none does. */
  readonly query: string | null;
}

interface SourceOptions extends Pick<ReportOptions, "content" | "database" | "nameFolder"> {
  /** Why the database of the job is not attached as `job`, as a sentence; null where it is. */
  readonly noHistory: string | null;
}

/** A run whose rows are in tables (`loadTables`), and the commands that ask for more of them. */
export class Source {
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly run_id: string;
  readonly content: boolean;
  readonly noHistory: string | null;
  /** The run folder; undefined where its rows are only in the database of the job. */
  readonly run: RunName | undefined;
  /** The newest run of the job, for commands that start another one. */
  readonly job: RunName;
  readonly #database: RunName;

  constructor(connection: Connection, dump: Dump, options: SourceOptions) {
    const { folder, manifest } = dump;
    const { content, database, nameFolder, noHistory } = options;
    this.connection = connection;
    this.manifest = manifest;
    this.run_id = manifest.run_id;
    this.content = content;
    this.noHistory = noHistory;
    this.run = dump.tablesOf(["chunks"], { guarded: true }) && runName(folder, manifest, nameFolder);
    this.job = databaseName(folder, manifest, nameFolder);
    this.#database = database === undefined ? this.job : { word: relative(".", database), flags: [] };
  }

  get hasHistory(): boolean {
    return this.noHistory === null;
  }

  /** The rows of a statement. Without content, no cell has a text of the service. */
  async rows(sql: string): Promise<readonly SqlRow[]> {
    const rows = await rowsOf(this.connection, sql);
    return this.content ? rows : rows.map(withoutTexts);
  }

  /** The only row of a statement. */
  async row(sql: string): Promise<SqlRow> {
    return (await this.rows(sql))[0] ?? {};
  }

  /** Counts the rows of a table, and reads the first of them with the names of their documents. */
  async table({ caption, columns, select, order, query }: TableRequest): Promise<Table> {
    const { total } = await this.row(`SELECT count(*) AS total FROM (${select})`);
    const rows = await this.rows(
      `FROM (FROM (${select}) ORDER BY ${order} LIMIT ${mostRows}) LEFT JOIN names USING (dataset_id, document_id)
      ORDER BY ${order}`,
    );
    return { caption, columns, rows, total: numberOf(total), query };
  }

  /** SQL: the rows of a kind, as a statement of `askRun` names them. */
  rowsOfRun(kind: Kind): string {
    return this.run ? kind : `(FROM ${kind} WHERE run_id = ${sqlText(this.run_id)})`;
  }

  /** The command that asks for rows of the run; the statement names their tables as `rowsOfRun` does. */
  askRun(statement: string): string {
    return sqlCommand(this.run ?? this.#database, onOneLine(statement));
  }

  /** The command that asks the database of the job. */
  askDatabase(statement: string): string {
    return sqlCommand(this.#database, onOneLine(statement));
  }
}

/** Our statements have no texts with line breaks. */
function onOneLine(statement: string): string {
  return statement.replace(/\s+/g, " ");
}

/** States of documents, chunks and readings, of the service and of our own. */
const knownStates = new Set([
  ...["waiting", "parsing", "cleaning", "splitting", "indexing", "completed", "error", "paused", "re_segment"],
  ...["available", "archived", "disabled", "enabled", "queuing", "unknown"],
  ...["complete", "partial", "failed", "unstable", "fresh", "stale", "never read", "not in this run"],
]);
const stateNames = new Set(["status", "state", "indexing_status", "display_status"]);
const harmless = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|-?\d+(\.\d+)?)$/;

/** Columns of texts, which a service or a person may fill with anything, also with digits. */
const textName =
  /(^|_)(content|answer|beginning|text|names?|title|error|reason|by|keywords?|summary|before|after|now)$/;

/** A row whose texts are numbers, UUIDs and known states only; any other state is `other`. */
export function withoutTexts<Row extends object>(row: Row): Row {
  const cells = Object.entries(row).map(([name, value]: [string, unknown]) => {
    if (typeof value === "string" && stateNames.has(name)) return [name, knownStates.has(value) ? value : "other"];
    if (typeof value === "string" && (textName.test(name) || !harmless.test(value))) return [name, null];
    return [name, value];
  });
  return Object.fromEntries(cells);
}
