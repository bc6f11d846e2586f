import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { StopError } from "../errors.js";

export interface DuckDbOptions {
  /** The most memory that DuckDB takes, such as `800MB`. */
  readonly memory: string;
  /** Threads that it works with; absent: `duckDbThreads`. */
  readonly threads?: number;
  /** The folder for its spill files. */
  readonly temporary: string;
  /** Interrupts the statement that is at work; its reason is what rejects. */
  readonly signal?: AbortSignal | undefined;
  /** The file is not changed; others may read it meanwhile. */
  readonly readOnly?: boolean;
}

/** One connection to a database; it runs one statement at a time. */
export type Connection = DuckDBConnection;

/** Threads that all of DuckDB works with. */
export const duckDbThreads = 2;

/** An open database. `close` closes the connection and then the instance. */
export interface OpenDuckDb {
  readonly connection: Connection;
  readonly close: () => void;
}

/** Loads the library of DuckDB, by far the heaviest part of the program; it takes a tenth of a second and more. */
export async function loadDuckDb(): Promise<typeof import("@duckdb/node-api")> {
  return import("@duckdb/node-api");
}

/**
 * Opens a database (`:memory:` or a file), and loads DuckDB if nobody did. After an
 * abort of the signal, every statement rejects with an error of DuckDB. The session is in UTC, whatever the zone of the machine.
 */
export async function openDuckDb(path: string, options: DuckDbOptions): Promise<OpenDuckDb> {
  const { DuckDBInstance } = await loadDuckDb();
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

/** Opens a database, runs `work` and closes it, whatever happens. After an abort it rejects with the reason of the signal. */
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

/** Once the signal is aborted, interrupts every statement of the connection, until the function that it gives is called. */
function interruptAt(signal: AbortSignal | undefined, connection: DuckDBConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = () => {
    connection.interrupt();
    timer = setTimeout(interrupt, 50);
  };
  if (signal?.aborted) interrupt(); // while the instance was made
  signal?.addEventListener("abort", interrupt, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", interrupt);
  };
}

/** Whether an error of DuckDB says that it lacks memory. */
export function lacksMemory(error: unknown): boolean {
  return error instanceof Error && /out of memory|(could not|failed to) allocate/i.test(error.message);
}

/** Says that DuckDB lacks memory, and how to give it more; undefined when an error says something else. */
export function memoryLack(
  cause: unknown,
  memory: string,
  remedy = "try again with --memory=2GB or more",
): StopError | undefined {
  if (!lacksMemory(cause)) return undefined;
  return new StopError(`DuckDB needs more than the ${memory} that it may use: ${remedy}`, { cause });
}

/** Whether an error says nothing against the file that DuckDB read: it lacked memory or disk, was interrupted, or is ours. */
export function isOwnError(error: unknown): boolean {
  const isOurs = !(error instanceof Error) || error instanceof StopError || error instanceof TypeError;
  return isOurs || lacksMemory(error) || /no space left|interrupt/i.test(error.message);
}
