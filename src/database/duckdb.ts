import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";

export interface DuckDbOptions {
  /** The most memory that DuckDB takes, such as `800MB`. */
  readonly memory: string;
  /** Where it spills what does not fit. */
  readonly temporary: string;
  /** Interrupts the statement that is at work; its reason is what rejects. */
  readonly signal?: AbortSignal | undefined;
  /** The file is not changed; others may read it meanwhile. */
  readonly readOnly?: boolean;
}

/** Threads that DuckDB works with. */
export const duckDbThreads = 2;

/**
 * Opens a database (`:memory:` or a file), runs `work` and closes the connection and then the instance, whatever
 * happens. DuckDB is loaded only now: it is by far the heaviest part of the program.
 */
export async function withDuckDb<T>(
  path: string,
  options: DuckDbOptions,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(path === ":memory:" ? path : resolve(path), {
    memory_limit: options.memory,
    temp_directory: resolve(options.temporary),
    threads: String(duckDbThreads),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    ...(options.readOnly ? { access_mode: "READ_ONLY" } : {}),
  });
  try {
    const connection = await instance.connect();
    const calm = interruptAt(options.signal, connection);
    try {
      return await work(connection);
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error;
    } finally {
      calm();
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
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

/** A string as SQL text. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as SQL text. It is absolute: DuckDB takes `~` at the start of one for the home folder. */
export function sqlPath(path: string): string {
  return sqlText(resolve(path));
}
