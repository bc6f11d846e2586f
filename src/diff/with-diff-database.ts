import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StopError } from "../errors.js";
import { withDuckDb } from "../sinks/duckdb-open.js";
import { type Connection, lacksMemory } from "../verify/sql-rows.js";
import type { DiffSetting } from "./diff-options.js";

/** A DuckDB that holds what is compared. What does not fit its memory goes to a temporary folder, which is removed. */
export async function withDiffDatabase<T>(
  { memory, signal }: DiffSetting,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const temporary = await mkdtemp(join(tmpdir(), "kbdump-diff-"));
  try {
    return await withDuckDb(":memory:", { memory, temporary: join(temporary, "spill"), signal }, work);
  } catch (cause) {
    signal.throwIfAborted(); // rather than what an interrupted DuckDB says
    if (!lacksMemory(cause)) throw cause;
    throw new StopError(`DuckDB needs more than the ${memory} that it may use: try again with --memory=2GB or more`, {
      cause,
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The rows of a statement, as JSON has them: large integers are texts. */
export async function rowsOf(connection: Connection, sql: string): Promise<readonly SqlRow[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

export type SqlRow = Readonly<Record<string, unknown>>;
