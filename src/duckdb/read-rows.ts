import { StopError } from "../errors.js";

import type { Connection } from "./open-duckdb.js";

/**
 * Yields the texts of a statement `SELECT <one text> FROM <table>` in batches. A DuckDB stream ends silently when it fails, so
 * missing rows are detected by count and requested again in a way that rejects with the reason. Throws StopError if DuckDB gives
 * no reason.
 */
export async function* streamTexts(
  connection: Connection,
  text: string,
  table: string,
): AsyncGenerator<Iterable<string>> {
  const result = await connection.stream(`SELECT ${text} FROM ${table}`);
  let rows = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    yield textsOf(chunk);
    rows += chunk.rowCount;
  }
  const counted = await connection.runAndReadAll(`SELECT count(*)::VARCHAR FROM ${table}`);
  const expected = Number(counted.getRowsJson()[0]?.[0]);
  if (rows === expected) return;
  await connection.run(`SELECT max(strlen(text)) FROM (SELECT ${text} AS text FROM ${table})`);
  throw new StopError(`DuckDB gave ${rows} of ${expected} rows; it lacks memory: try again with --memory=2GB`);
}

type Chunk = NonNullable<Awaited<ReturnType<Awaited<ReturnType<Connection["stream"]>>["fetchChunk"]>>>;

/**
 * Yields the texts of a chunk of rows. They are created one by one as they are consumed, because a chunk has up to 2,048 rows,
 * which may be long.
 */
function* textsOf(chunk: Chunk): Generator<string> {
  const texts = chunk.getColumnVector(0);
  for (let at = 0; at < chunk.rowCount; at++) yield String(texts.getItem(at));
}

/** The rows of a statement as JSON values. Large integers are strings. */
export async function rowsOf(connection: Connection, sql: string): Promise<readonly SqlRow[]> {
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

export type SqlRow = Readonly<Record<string, unknown>>;
