import { DuckDBInstance } from "@duckdb/node-api";

/** The rows that a DuckDB of the test's own answers; numbers above 2^31, times and dates come as text. */
export async function query(
  sql: string,
  file = ":memory:",
  access: "READ_ONLY" | "READ_WRITE" = file === ":memory:" ? "READ_WRITE" : "READ_ONLY",
): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(file, {
    access_mode: access,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    threads: "2",
  });
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** A string as SQL text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
