import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { read } from "../database/query.js";

export type Rows = Record<string, unknown>[];

/** The rows of a JSONL file. */
export async function readJsonl(folder: string, kind: string): Promise<Rows> {
  const text = await readFile(join(folder, `${kind}.jsonl`), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** The rows that a query returns, by column name; integers as numbers. */
export function query(sql: string, database?: string): Promise<Rows> {
  return read(database, async (connection) => (await connection.runAndReadAll(sql)).getRowObjectsJson());
}
