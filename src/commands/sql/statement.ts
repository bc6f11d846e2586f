import type { Connection } from "../../duckdb/open-duckdb.js";
import { checkReading, jsonFromText, jsonValueFrom, onlyReads } from "../../duckdb/query-values.js";

import { StopError, UsageError } from "../../errors.js";
import { cutText, escapeControls } from "../../safe-text.js";

/** A column of a result, with the name of its type in SQL. */
export interface QueryColumn {
  readonly name: string;
  readonly type: string;
}

/** A row: a value for each column, as JSON has them; numbers that JavaScript would round as ExactNumber. */
export type QueryRow = readonly unknown[];

/** The result of a statement. */
export interface QueryResult {
  readonly columns: readonly QueryColumn[];
  readonly rowCount: number;
  /** Whether there are more rows than were asked for. */
  readonly isCut: boolean;
  /** The rows in their order, some at a time. To be read once. */
  readonly rows: AsyncIterable<readonly QueryRow[]>;
}

const view = "kbdump_statement";
const table = "kbdump_result";

/**
 * Runs one statement that reads. Its rows are stored in a temporary table first, which spills to the disk: a stream of DuckDB
 * ends without a word where a statement fails in the middle. UsageError with DuckDB's reason where the statement is wrong.
 */
export async function runQuery(connection: Connection, sql: string, limit: number | undefined): Promise<QueryResult> {
  try {
    await checkReading(connection, sql);
    const isStored = await connection.run(`CREATE TEMP VIEW ${view} AS\n${sql}`).then(
      () => true,
      () => false, // DESCRIBE, SHOW, SUMMARIZE, EXPLAIN and PRAGMA make no view, and have few rows
    );
    if (!isStored) return await runWhole(connection, sql, limit);
    const some = limit === undefined ? "" : ` LIMIT ${limit + 1}`;
    await connection.run(`CREATE TEMP TABLE ${table} AS FROM ${view}${some}`);
  } catch (error) {
    throw statementError(error, view);
  }
  return storedResult(connection, limit);
}

async function runWhole(connection: Connection, sql: string, limit = Number.POSITIVE_INFINITY): Promise<QueryResult> {
  const reader = await connection.runAndReadAll(sql);
  const all = reader.getRows();
  const { columns, convert } = shapeOf(reader);
  const rows = all.slice(0, limit).map(convert);
  const whole = async function* () {
    yield rows;
  };
  return { columns, rowCount: rows.length, isCut: all.length > limit, rows: whole() };
}

async function storedResult(connection: Connection, limit = Number.POSITIVE_INFINITY): Promise<QueryResult> {
  const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`);
  const stored = Number(counted.getRows()[0]?.[0]);
  const rowCount = Math.min(stored, limit);
  const result = await connection.stream(`FROM ${table}`); // with a LIMIT, DuckDB would hold all rows in memory
  const { columns, convert } = shapeOf(result);
  const rows = async function* () {
    let given = 0;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) break;
      yield chunk
        .getRows()
        .slice(0, rowCount - given)
        .map(convert);
      given += chunk.rowCount;
    }
    if (given === stored) return;
    throw new StopError(`DuckDB gave ${given} of ${stored} rows; it lacks memory: try again with --memory=2GB`);
  };
  return { columns, rowCount, isCut: stored > limit, rows: rows() };
}

type Shaped = Pick<Awaited<ReturnType<Connection["stream"]>>, "columnNames" | "columnTypes">;
type Cells = readonly Parameters<typeof jsonValueFrom>[0][];

/** The columns of a result, and the function that makes rows of its cells. */
function shapeOf(result: Shaped): {
  readonly columns: readonly QueryColumn[];
  readonly convert: (cells: Cells) => QueryRow;
} {
  const types = result.columnTypes();
  const columns = result.columnNames().map((name, at) => {
    const type = types[at];
    return { name, type: type?.alias ?? String(type) };
  });
  const readers = columns.map(({ type }) => (type === "JSON" ? jsonFromText : jsonValueFrom));
  return { columns, convert: (cells) => cells.map((cell, at) => (readers[at] ?? jsonValueFrom)(cell)) };
}

/** Kinds of errors of DuckDB that say nothing of the statement: they stay as they are. */
const others = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|Serialization) Error/i;

/** Reasons of DuckDB for what a connection that only reads refuses. */
const refused = /disabled (by|through) configuration|read-only mode|configuration has been locked/;

/**
 * The error of a statement as wrong usage: DuckDB's reason, with the place. `hidden` is a name of ours, which no message shows.
 * Gives back any other error unchanged.
 */
function statementError(error: unknown, hidden: string): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  const message = error.message.replace(/^Failed to extract statements: /, "");
  if (others.test(message) || !/^[\w -]+ Error:/.test(message)) return error;
  const [reason = "", place = ""] = message.split(/\n\n(?=LINE \d+:)/);
  const hint = refused.test(reason) ? [onlyReads] : [];
  const lines = [...reason.split("\n"), ...(place.includes(hidden) ? [] : place.split("\n")), ...hint];
  const shown = lines.filter((line) => line.trim() !== "").map((line) => cutText(escapeControls(line), 300));
  return new UsageError(shown.join("\n"), []);
}
