import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StopError } from "../errors.js";
import { type Connection, type DuckDbOptions, memoryLack, withDuckDb } from "./open-duckdb.js";

export interface SpillOptions extends Pick<DuckDbOptions, "memory" | "readOnly"> {
  readonly signal: AbortSignal;
}

/**
 * Opens a database (`:memory:` or a file), runs `work` and closes it. What does not fit the memory goes to a temporary folder
 * of the system, never beside the database, and is removed.
 */
export async function withSpill<T>(
  path: string,
  options: SpillOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const temporary = await mkdtemp(join(tmpdir(), "kbdump-duckdb-"));
  try {
    return await withDuckDb(path, { ...options, temporary: join(temporary, "spill") }, work);
  } catch (cause) {
    options.signal.throwIfAborted(); // rather than what an interrupted DuckDB says
    throw lackOf(cause, options.memory) ?? cause;
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
  return memoryLack(cause, memory);
}
