import { lstat, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { StopError } from "../errors.js";
import { copyDatabase } from "./duckdb-copy.js";
import { type DuckDbOptions, withDuckDb } from "./duckdb-open.js";
import { tables } from "./duckdb-tables.js";

/** What lies at the path of a database. */
export type Inspected =
  | { readonly state: "absent" }
  /** Ours, with the id of the newest run in it; null where it has only readings of the indexing status. */
  | { readonly state: "ours"; readonly newest: string | null }
  /** A DuckDB database without our tables, or no file at all: it belongs to somebody else. */
  | { readonly state: "foreign"; readonly what: string }
  /** A file that DuckDB cannot read. */
  | { readonly state: "corrupt"; readonly reason: string };

/** Tables that every database of every version of ours has. */
const markTables = ["chunks", "documents", "runs", "indexing_status"].filter((name) => name in tables);

/**
 * Looks what lies at a path, without changing it. Readers of the database are not disturbed; where somebody writes to it, a
 * copy is looked at. Rejects where that cannot be known: no permission, a disk that reports an error, a newer version.
 */
export async function inspectDatabase(path: string, options: DuckDbOptions): Promise<Inspected> {
  const facts = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error; // no proof that there is none
  });
  if (!facts) return { state: "absent" };
  if (!facts.isFile()) return { state: "foreign", what: "is not a file" };
  try {
    return await withDuckDb(path, { ...options, readOnly: true }, look);
  } catch (error) {
    if (isCorruption(error)) return { state: "corrupt", reason: reasonOf(error, path) };
    return inspectCopy(path, options);
  }
}

/** Somebody has it open for writing, or left a log beside it that cannot be read: the file itself tells. */
async function inspectCopy(path: string, options: DuckDbOptions): Promise<Inspected> {
  const copy = `${options.temporary}.look`;
  try {
    await copyDatabase(path, copy, options);
    return await withDuckDb(copy, options, look);
  } catch (error) {
    if (isCorruption(error)) return { state: "corrupt", reason: reasonOf(error, copy) };
    throw error;
  } finally {
    await rm(copy, { force: true });
  }
}

async function look(connection: DuckDBConnection): Promise<Inspected> {
  const found = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'");
  const names = new Set(found.getRowsJson().map(([name]) => name));
  if (markTables.some((name) => !names.has(name))) return { state: "foreign", what: "has no tables of kbdump" };
  const [row] = (await connection.runAndReadAll("SELECT max(run_id) FROM runs")).getRowsJson();
  return { state: "ours", newest: typeof row?.[0] === "string" ? row[0] : null };
}

/** Whether every block of the tables can be read, of a copy, as somebody may write to the file; takes as long as that does. */
export async function isReadable(path: string, options: DuckDbOptions): Promise<boolean> {
  const copy = `${options.temporary}.look`;
  const read = async (connection: DuckDBConnection) => {
    const found = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'");
    for (const [name] of found.getRowsJson()) await connection.run(`SELECT sum(hash(t)) FROM "${name}" t`);
  };
  try {
    await copyDatabase(path, copy, options);
    await withDuckDb(copy, options, read);
    return true;
  } catch (error) {
    if (isCorruption(error)) return false;
    throw error;
  } finally {
    await rm(copy, { force: true });
  }
}

/** What DuckDB says of a file whose bytes are not what it wrote, or cannot be read; any other error says nothing of the file. */
export function isCorruption(error: unknown): boolean {
  if (error instanceof StopError) return isCorruption(error.cause);
  if (!(error instanceof Error)) return false;
  return /Input\/output error|not a valid DuckDB database|Corrupt database file|not read enough bytes|failed to deserialize|^Serialization Error|^INTERNAL Error/i.test(
    error.message,
  );
}

function reasonOf(error: unknown, path: string): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0]?.replaceAll(`"${resolve(path)}"`, "it") ?? "";
}
