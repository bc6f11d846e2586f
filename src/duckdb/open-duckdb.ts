import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { StopError } from "../errors.js";
import { makeTemporaryFolder } from "../temporary-folder.js";

export interface DuckDbOptions {
  /** DuckDB's memory limit, such as `800MB`. */
  readonly memory: string;
  /** DuckDB's number of threads; default: `duckDbThreads`. */
  readonly threads?: number;
  /** The folder for DuckDB's spill files. */
  readonly temporary: string;
  /** Aborting it interrupts the running statement, which rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Opens the file read-only, so that others can read it too. */
  readonly readOnly?: boolean;
}

/** A connection to a database. It runs one statement at a time. */
export type Connection = DuckDBConnection;

/** DuckDB's default memory limit. Node and DuckDB's readers take up to 350 MB more. */
export const defaultMemory = "800MB";

/**
 * DuckDB's default memory limit for comparing two runs, which keeps no texts in memory. Comparing two runs with a document of
 * 1,000,000 chunks of 500 characters takes at most 600 MB in total.
 */
export const comparisonMemory = "300MB";

/** The default number of DuckDB threads. */
const duckDbThreads = 2;

/** An open database. `close` closes the connection, then the instance. */
interface OpenDuckDb {
  readonly connection: Connection;
  readonly close: () => void;
}

const require = createRequire(import.meta.url);

/** Loads DuckDB's library, by far the largest part of the program. `import` would take 100 ms longer, to list what its files export. */
export function loadDuckDb(): typeof import("@duckdb/node-api") {
  return require("@duckdb/node-api");
}

/**
 * Opens a database (`:memory:` or a file), and loads DuckDB if needed. After the signal aborts, every statement rejects with a
 * DuckDB error. The session uses UTC, regardless of the machine's time zone.
 */
export async function openDuckDb(path: string, options: DuckDbOptions): Promise<OpenDuckDb> {
  const { DuckDBInstance } = loadDuckDb();
  const instance = await DuckDBInstance.create(path === ":memory:" ? path : resolve(path), {
    memory_limit: options.memory,
    temp_directory: resolve(options.temporary),
    threads: String(options.threads ?? duckDbThreads),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    ...(options.readOnly ? { access_mode: "READ_ONLY" } : {}),
  });
  try {
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    const calm = interruptAt(options.signal, connection);
    const close = () => {
      calm();
      connection.closeSync();
      instance.closeSync();
    };
    return { connection, close };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

/** Opens a database, runs `work` and always closes it. After an abort, rejects with the reason of the signal. */
export async function withDuckDb<T>(
  path: string,
  options: DuckDbOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { connection, close } = await openDuckDb(path, options);
  try {
    return await work(connection);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    close();
  }
}

/** After the signal aborts, interrupts every statement of the connection until the returned function is called. */
function interruptAt(signal: AbortSignal | undefined, connection: DuckDBConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer = setTimeout(interrupt, 50);
  };
  if (signal?.aborted) interrupt(); // aborted while the instance was created
  signal?.addEventListener("abort", interrupt, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", interrupt);
  };
}

/** Whether a DuckDB error means that it ran out of memory. */
export function lacksMemory(error: unknown): boolean {
  return error instanceof Error && /out of memory|(could not|failed to) allocate/i.test(error.message);
}

/** Explains that DuckDB ran out of memory, and how to give it more; undefined for other errors. */
export function memoryLack(
  cause: unknown,
  memory: string,
  remedy = "try again with --memory=2GB or more",
): StopError | undefined {
  if (!lacksMemory(cause)) return undefined;
  return new StopError(`DuckDB needs more than the ${memory} that it may use: ${remedy}`, { cause });
}

/** Whether an error is not caused by the file that DuckDB read: DuckDB ran out of memory or disk, was interrupted, or the error is ours. */
export function isOwnError(error: unknown): boolean {
  const isOurs = !(error instanceof Error) || error instanceof StopError || error instanceof TypeError;
  return isOurs || lacksMemory(error) || /no space left|interrupt/i.test(error.message);
}

export interface SpillOptions extends Pick<DuckDbOptions, "memory" | "readOnly"> {
  readonly signal: AbortSignal;
}

/**
 * Opens a database (`:memory:` or a file), runs `work` and closes it. Data that does not fit in memory spills to a folder in the
 * system's temporary directory, never next to the database, and is removed afterwards.
 */
export async function withSpill<T>(
  path: string,
  options: SpillOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  await using temporary = await makeTemporaryFolder("duckdb");
  try {
    return await withDuckDb(path, { ...options, temporary: join(temporary.path, "spill") }, work);
  } catch (cause) {
    options.signal.throwIfAborted(); // instead of DuckDB's own error after an interrupt
    throw lackOf(cause, options.memory) ?? cause;
  }
}

/** Explains that DuckDB ran out of memory or disk space; undefined for other errors. */
export function lackOf(cause: unknown, memory: string): StopError | undefined {
  if (cause instanceof Error && /max_temp_directory_size|no space left/i.test(cause.message)) {
    const message = `the disk of ${tmpdir()} is full: make room there, name another folder in TMPDIR, or try --memory=2GB or more`;
    return new StopError(message, { cause });
  }
  return memoryLack(cause, memory);
}

/** A share of a memory size: half of `800MB` is `400MB`. */
export function memoryShare(memory: string, share: number): string {
  return memory.replace(/^[\d.]+/, (amount) => String(Number(amount) * share));
}

/** The options of each of several concurrent DuckDB instances, which share memory. */
export function shareOf(options: DuckDbOptions, instances = 1): DuckDbOptions {
  return { ...options, memory: memoryShare(options.memory, 1 / instances) };
}
