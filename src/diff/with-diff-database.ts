import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, lacksMemory, withDuckDb } from "../duckdb/open-duckdb.js";
import { StopError } from "../errors.js";
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
    throw lackOf(cause, memory) ?? cause;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Tells of memory or room on the disk that DuckDB lacks; undefined when it is neither. */
export function lackOf(cause: unknown, memory: string): StopError | undefined {
  if (cause instanceof Error && /max_temp_directory_size|no space left/i.test(cause.message)) {
    const message = `the disk of ${tmpdir()} is full: make room there, name another folder in TMPDIR, or try --memory=2GB or more`;
    return new StopError(message, { cause });
  }
  if (!lacksMemory(cause)) return undefined;
  const message = `DuckDB needs more than the ${memory} that it may use: try again with --memory=2GB or more`;
  return new StopError(message, { cause });
}

/** The rows of a statement, as JSON has them: large integers are texts. */
export async function rowsOf(connection: Connection, sql: string): Promise<readonly SqlRow[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

export type SqlRow = Readonly<Record<string, unknown>>;
