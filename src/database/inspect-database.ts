import { lstat, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { type Connection, type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { StopError } from "../errors.js";
import { copyDatabase } from "./build-database.js";
import { tables, tablesIn } from "./tables.js";

/** The state of a database file. */
export type Inspected =
  | { readonly state: "absent" }
  /** A kbdump database, with the id of its newest run; null if it has only status snapshots. */
  | { readonly state: "ours"; readonly newest: string | null }
  /** A DuckDB database without our tables, or not a file: it does not belong to kbdump. */
  | { readonly state: "foreign"; readonly what: string }
  /** A file that DuckDB cannot read. */
  | { readonly state: "corrupt"; readonly reason: string };

/** The reason given for a database that opens, but has damaged blocks. */
export const damagedBlocks = "some of its blocks are damaged";

/** Tables that identify a kbdump database. */
const markTables = ["chunks", "documents", "runs", "indexing_status"];

/**
 * Inspects a database without changing it or disturbing its readers. If another process is writing to it, inspects a copy. Rejects
 * if the state cannot be determined: no permission, a disk error, a newer version of DuckDB's format.
 */
export function inspectDatabase(path: string, options: DuckDbOptions): Promise<Inspected> {
  return inspect(path, options, look);
}

/** Like inspectDatabase, and also reads every block of our tables, which takes about a second for 200,000 chunks. */
export function inspectWholly(path: string, options: DuckDbOptions): Promise<Inspected> {
  return inspect(path, options, async (connection) => {
    const found = await look(connection);
    if (found.state !== "ours") return found;
    const error = await readAll(connection).catch((reason: unknown) => reason);
    options.signal?.throwIfAborted();
    return isCorruption(error) ? { state: "corrupt", reason: damagedBlocks } : found;
  });
}

async function inspect(
  path: string,
  options: DuckDbOptions,
  lookAt: (connection: Connection) => Promise<Inspected>,
): Promise<Inspected> {
  const facts = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error; // a database may be there
  });
  if (!facts) return { state: "absent" };
  if (!facts.isFile()) return { state: "foreign", what: "is not a file" };
  try {
    return await withDuckDb(path, { ...options, readOnly: true }, lookAt);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isCorruption(error)) return { state: "corrupt", reason: reasonOf(error, path) };
    return inspectCopy(path, options);
  }
}

/** Inspects a copy of a file that another process has open for writing, or whose log cannot be read. */
async function inspectCopy(path: string, options: DuckDbOptions): Promise<Inspected> {
  try {
    return await withCopy(path, options, look);
  } catch (error) {
    if (isCorruption(error)) return { state: "corrupt", reason: reasonOf(error, copyFor(options)) };
    throw error;
  }
}

/** Runs work on a temporary copy, because another process may be writing to the database. */
async function withCopy<T>(
  path: string,
  options: DuckDbOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const copy = copyFor(options);
  try {
    await copyDatabase(path, copy, options);
    return await withDuckDb(copy, options, work);
  } finally {
    await rm(copy, { force: true });
  }
}

const copyFor = ({ temporary }: DuckDbOptions): string => `${temporary}.look`;

async function look(connection: Connection): Promise<Inspected> {
  const there = await tablesIn(connection);
  if (markTables.some((name) => !there.includes(name))) return { state: "foreign", what: "has no tables of kbdump" };
  if (!(await isOfThisVersion(connection, there)))
    return { state: "foreign", what: "was written by another version of kbdump" };
  const [row] = (await connection.runAndReadAll("SELECT max(run_id) FROM runs")).getRowsJson();
  return { state: "ours", newest: typeof row?.[0] === "string" ? row[0] : null };
}

/** Whether the database has all tables of this version, with just their columns. */
async function isOfThisVersion(connection: Connection, there: readonly unknown[]): Promise<boolean> {
  const ours = Object.entries(tables);
  if (ours.some(([table]) => !there.includes(table))) return false;
  const selects = ours.map(([table]) => `SELECT '${table}', list(name) FROM pragma_table_info('${table}')`);
  const found = await connection.runAndReadAll(selects.join(" UNION ALL ")); // duckdb_columns() would bind every view
  const columnsOf = new Map(found.getRowsJson().map(([table, names]) => [table, new Set(arrayOf(names))]));
  return ours.every(([table, { columns }]) => {
    const names = columnsOf.get(table);
    return names?.size === columns.length && columns.every(({ name }) => names.has(name));
  });
}

/** Whether every block of the tables can be read. Reads a copy; as slow as reading the whole database. */
export async function isReadable(path: string, options: DuckDbOptions): Promise<boolean> {
  try {
    await withCopy(path, options, readAll);
    return true;
  } catch (error) {
    if (isCorruption(error)) return false;
    throw error;
  }
}

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

async function readAll(connection: Connection): Promise<void> {
  for (const name of await tablesIn(connection)) await connection.run(`SELECT sum(hash(t)) FROM "${name}" t`);
}

/** Whether a DuckDB error means that the database file is damaged or unreadable. */
export function isCorruption(error: unknown): boolean {
  if (error instanceof StopError) return isCorruption(error.cause);
  if (!(error instanceof Error)) return false;
  return /Input\/output error|not a valid DuckDB database|Corrupt database file|not read enough bytes|failed to deserialize|^Serialization Error|^INTERNAL Error/i.test(
    error.message,
  );
}

function reasonOf(error: unknown, path: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes("not a valid DuckDB database")) return "it is not a DuckDB database";
  return text.split("\n", 1)[0]?.replaceAll(`"${resolve(path)}"`, "it") ?? "";
}
