import type { Connection } from "./open-duckdb.js";

/** The rows of a statement, as JSON has them: large integers are texts. */
export async function rowsOf(connection: Connection, sql: string): Promise<readonly SqlRow[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

export type SqlRow = Readonly<Record<string, unknown>>;
