import { StopError } from "../errors.js";
import type { Connection } from "./open-duckdb.js";

/**
 * The texts of a statement `SELECT <one text> FROM <table>`, some at a time. A stream of DuckDB ends without a word when it
 * fails: rows that it did not give are counted, and asked for once more in a way that rejects with the reason. StopError if
 * DuckDB gives no reason.
 */
export async function* streamTexts(
  connection: Connection,
  text: string,
  table: string,
): AsyncGenerator<readonly string[]> {
  const result = await connection.stream(`SELECT ${text} FROM ${table}`);
  let rows = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    const texts = chunk.getColumnVector(0);
    yield Array.from({ length: chunk.rowCount }, (_, at) => String(texts.getItem(at)));
    rows += chunk.rowCount;
  }
  const counted = await connection.runAndReadAll(`SELECT count(*)::VARCHAR FROM ${table}`);
  const expected = Number(counted.getRowsJson()[0]?.[0]);
  if (rows === expected) return;
  await connection.run(`SELECT max(strlen(text)) FROM (SELECT ${text} AS text FROM ${table})`);
  throw new StopError(`DuckDB gave ${rows} of ${expected} rows; it lacks memory: try again with --memory=2GB`);
}
