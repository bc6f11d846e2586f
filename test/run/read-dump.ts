import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";

export type Rows = Record<string, unknown>[];

/** The rows of a JSONL file. */
export async function readJsonl(folder: string, kind: string): Promise<Rows> {
  const text = await readFile(join(folder, `${kind}.jsonl`), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The rows that a statement gives, read by a DuckDB of the test's own; integers as numbers. */
export async function query(sql: string, database?: string): Promise<Rows> {
  const instance = await DuckDBInstance.create(database ?? ":memory:", database ? { access_mode: "READ_ONLY" } : {});
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll(sql);
    return reader.getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
