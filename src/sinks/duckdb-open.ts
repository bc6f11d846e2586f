import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";

export interface DuckDbOptions {
  /** The most memory that DuckDB takes, such as `800MB`. */
  readonly memory: string;
  /** Where it spills what does not fit. */
  readonly temporary: string;
}

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
    threads: "2",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  try {
    const connection = await instance.connect();
    try {
      return await work(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** A string as SQL text. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as SQL text. It is absolute: DuckDB takes `~` at the start of one for the home folder. */
export function sqlPath(path: string): string {
  return sqlText(resolve(path));
}
