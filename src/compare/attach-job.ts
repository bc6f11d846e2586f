import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlPath, sqlText } from "../duckdb/sql.js";

export interface RunInDatabase {
  readonly database: string;
  readonly run_id: string;
}

/**
 * Attaches a job's database as `job`, read-only. Returns undefined if the database has the run, otherwise the reason as a clause.
 * Rejects with a DuckDB error, which `attachReason` explains.
 */
export async function attachJob(
  connection: Connection,
  { database, run_id }: RunInDatabase,
): Promise<string | undefined> {
  await connection.run(`ATTACH ${sqlPath(database)} AS job (READ_ONLY)`);
  const found = await connection.runAndReadAll(`FROM job.main.runs WHERE run_id = ${sqlText(run_id)}`);
  return found.currentRowCount === 0 ? "it does not have this run" : undefined;
}

/** Why a database cannot be used, as a clause such as `it is not a DuckDB database`. */
export function attachReason(error: unknown, database: string): string {
  const text = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
  if (/could not set lock/i.test(text)) return "another program has it open for writing";
  if (/not a valid DuckDB database/i.test(text)) return "it is not a DuckDB database";
  if (/database does not exist|No such file/i.test(text)) return "there is no such file";
  if (/^(Binder|Catalog) Error/.test(text)) return "it was made by another version of kbdump";
  return text.replaceAll(sqlPath(database).slice(1, -1), "it").replaceAll(database, "it");
}
