import { type Connection, withSpill } from "../../duckdb/open-duckdb.js";
import { sqlPath } from "../../duckdb/sql.js";
import { checkRows, loadRows } from "../../dump/load.js";
import { openDump } from "../../dump/open-dump.js";
import { StopError, UsageError } from "../../errors.js";
import { isThere } from "../../files/files.js";
import { allKinds } from "../../rows/columns.js";
import type { QueryResult } from "./statement.js";

/** A database to query, or a run folder to load first. */
export type QuerySource = { readonly database: string } | { readonly folder: string };

interface QueryOptions {
  readonly memory: string;
  readonly signal: AbortSignal;
  /** The maximum number of rows; undefined: all. */
  readonly limit: number | undefined;
  /** A file that the result may be written to. */
  readonly file?: string | undefined;
}

/**
 * Runs a statement on a database and passes the result to `work`. The database is read-only, and the connection cannot access any
 * other file, whatever the statement says. Throws UsageError if the statement is wrong or does more than read.
 */
export async function queryDatabase<T>(
  source: QuerySource,
  statement: string,
  { limit, file, ...options }: QueryOptions,
  work: (result: QueryResult) => Promise<T>,
): Promise<T> {
  const ask = async (connection: Connection) => {
    const { runQuery } = await import("./statement.js"); // imports DuckDB by name, which crashes Node if it cannot be loaded
    return work(await runQuery(connection, statement, limit));
  };
  if ("folder" in source) {
    return withSpill(":memory:", options, async (connection) => {
      await loadRun(connection, source.folder, statement, options.signal);
      await seal(connection, file);
      return ask(connection);
    });
  }
  const { database } = source;
  if (!(await isThere(database))) throw notOpened(database, "there is no such file");
  const opened = withSpill(database, { ...options, readOnly: true }, async (connection) => {
    await seal(connection, file);
    return ask(connection);
  });
  return opened.catch((error: unknown) => {
    throw openingError(error, database) ?? error;
  });
}

/** Limits the connection to the database file and `file`. No statement can undo this. */
async function seal(connection: Connection, file: string | undefined): Promise<void> {
  await connection.run("SET TimeZone = 'UTC'");
  if (file !== undefined) await connection.run(`SET allowed_paths = [${sqlPath(file)}]`);
  await connection.run("SET enable_external_access = false");
  await connection.run("SET lock_configuration = true");
}

/** Explains why a database cannot be opened; undefined for any other error. */
function openingError(error: unknown, database: string): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  if (/not a valid DuckDB database/.test(error.message)) return notOpened(database, "it is not a DuckDB database");
  if (!/Could not set lock/.test(error.message)) return undefined;
  const message = `${database} is open for writing in another program; close it there, or query a copy of the file`;
  return new StopError(message, { cause: error });
}

function notOpened(database: string, message: string): UsageError {
  return new UsageError("No database could be queried:", [{ path: database, message }]);
}

/**
 * Loads the files of a run folder that a statement names: `chunks` for chunks.jsonl or the same in another format. Throws
 * StopError if a file differs from what the run wrote.
 */
async function loadRun(connection: Connection, folder: string, statement: string, signal: AbortSignal): Promise<void> {
  const dump = await openDump(folder, "nothing was asked");
  for (const kind of allKinds) {
    const [file] = dump.tablesOf([kind], { guarded: true }) ?? [];
    if (!file || !new RegExp(`\\b${kind}\\b`, "i").test(statement)) continue;
    await loadRows(connection, dump, await checkRows(dump, file, { signal, json: "JSON" }), { name: kind });
  }
}
