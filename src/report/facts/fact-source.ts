import { relative } from "node:path";
import { sqlText } from "../../duckdb/sql-text.js";
import type { Dump } from "../../dump/open-dump.js";
import type { Kind } from "../../rows/columns.js";
import { databaseName, type RunName, runName, sqlCommand } from "../commands.js";
import type { ReportOptions } from "../report-options.js";
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
