import { relative } from "node:path";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { rowsOf, type SqlRow } from "../../duckdb/read-rows.js";
import { sqlText } from "../../duckdb/sql.js";
import type { Dump } from "../../dump/open-dump.js";
import type { Kind } from "../../rows/columns.js";
import { type Cut, mostRows } from "../lost-facts.js";
import type { LocatedChunk, NamedDocument } from "../named-document.js";
import type { ReportOptions } from "../report-facts.js";
import { databaseName, type RunName, runName, sqlCommand } from "../report-path.js";
import type { LoadedTables, LoadOptions } from "./load-tables.js";

/** The run that facts are gathered of, and the names by which commands ask for more rows. */
export interface FactSource extends LoadedTables, Pick<LoadOptions, "content"> {
  readonly run_id: string;
  /** The run folder; undefined where the rows of the run are in the database of its job alone. */
  readonly run: RunName | undefined;
  /** The database of the job. */
  readonly database: RunName;
}

/** The source of the facts of a dump whose tables are loaded. */
export function factSourceOf(
  dump: Dump,
  loaded: LoadedTables,
  { database, content, nameFolder }: Pick<LoadOptions, "database" | "content"> & Pick<ReportOptions, "nameFolder">,
): FactSource {
  const { run_id } = dump.manifest;
  const run = runName(dump.folder, dump.manifest, nameFolder);
  return {
    ...loaded,
    content,
    run_id,
    run: dump.tablesOf(["chunks"], { guarded: true }) && run,
    database:
      database === undefined
        ? databaseName(dump.folder, dump.manifest, nameFolder)
        : { word: relative(".", database), flags: [] },
  };
}

/** SQL: the rows of a kind, as a statement of `askRun` names them. */
export function rowsOfRun({ run, run_id }: FactSource, kind: Kind): string {
  return run ? kind : `(FROM ${kind} WHERE run_id = ${sqlText(run_id)})`;
}

/** The command that asks for rows of the run; the statement names their tables as `rowsOfRun` does. */
export function askRun({ run, database }: FactSource, statement: string): string {
  return sqlCommand(run ?? database, onOneLine(statement));
}

/** The command that asks the database of the job. */
export function askDatabase({ database }: FactSource, statement: string): string {
  return sqlCommand(database, onOneLine(statement));
}

/** Statements of ours have no texts with line breaks. */
function onOneLine(statement: string): string {
  return statement.replace(/\s+/g, " ");
}

/** The rows of a table of the report. */
interface CutRows {
  /** SQL: all of the rows, with dataset_id and document_id. */
  readonly select: string;
  /** SQL: their order, which no two of them share. */
  readonly order: string;
  readonly query: string | null;
  /** A table with the names of documents; `documents` unless another is given. */
  readonly names?: string;
}

/** Counts rows, and reads the first of them with the names of their documents. */
export async function readCut<Row>(
  connection: Connection,
  { select, order, query, names = "documents" }: CutRows,
  rowFrom: (row: SqlRow) => Row,
): Promise<Cut<Row>> {
  const [counted] = await rowsOf(connection, `SELECT count(*) AS total FROM (${select})`);
  const first = await rowsOf(
    connection,
    `FROM (FROM (${select}) ORDER BY ${order} LIMIT ${mostRows})
    LEFT JOIN (SELECT dataset_id, document_id, dataset_name, document_name FROM ${names}) USING (dataset_id, document_id)
    ORDER BY ${order}`,
  );
  return { rows: first.map(rowFrom), total: numberFrom(counted?.total), query };
}

export function documentFrom(row: SqlRow): NamedDocument {
  return {
    dataset_id: String(row.dataset_id),
    document_id: String(row.document_id),
    dataset_name: knownText(row.dataset_name),
    document_name: knownText(row.document_name),
  };
}

export function placeFrom(row: SqlRow): LocatedChunk {
  return { ...documentFrom(row), id: String(row.id), position: knownNumber(row.position) };
}

/** A number of DuckDB, which gives large ones as texts; 0 for the sum of nothing. */
export function numberFrom(value: unknown): number {
  return Number(value ?? 0);
}

/** The same, null where there is none. */
export function knownNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function knownText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
