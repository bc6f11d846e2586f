import type { Connection } from "../../duckdb/open-duckdb.js";
import { checkReading, jsonFromText, jsonValueFrom, onlyReads } from "../../duckdb/query-values.js";

import { sqlPath } from "../../duckdb/sql.js";
import { StopError, UsageError } from "../../errors.js";
import { cutText, escapeControls } from "../../safe-text.js";

/** A column of a result, with its SQL type. */
export interface QueryColumn {
  readonly name: string;
  readonly type: string;
}

/** A row with a value for each column, as in JSON. Numbers that JavaScript would round are ExactNumbers. */
export type QueryRow = readonly unknown[];

/** The result of a statement. */
export interface QueryResult {
  readonly columns: readonly QueryColumn[];
  readonly rowCount: number;
  /** Whether there are more rows than requested. */
  readonly isCut: boolean;
  /** The rows in order and in batches. Can be read once. */
  readonly rows: AsyncIterable<readonly QueryRow[]>;
  /** Writes the rows to a Parquet file. Undefined for DESCRIBE, SHOW and other statements that cannot be part of a query. */
  readonly writeParquet?: (file: string) => Promise<void>;
}

const view = "kbdump_statement";
const table = "kbdump_result";

/**
 * Runs one read-only statement. Stores its rows in a temporary table first, which can spill to disk, because a DuckDB stream ends
 * silently if a statement fails midway. Throws UsageError with DuckDB's reason if the statement is wrong.
 */
export async function runQuery(connection: Connection, sql: string, limit: number | undefined): Promise<QueryResult> {
  try {
    await checkReading(connection, sql);
    const isStored = await connection.run(`CREATE TEMP VIEW ${view} AS\n${sql}`).then(
      () => true,
      () => false, // DESCRIBE, SHOW, SUMMARIZE, EXPLAIN and PRAGMA cannot become a view, and return few rows
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
  const some = stored > limit ? ` LIMIT ${limit}` : "";
  const writeParquet = async (file: string) => {
    await connection.run(`COPY (FROM ${table}${some}) TO ${sqlPath(file)} (FORMAT parquet)`);
  };
  return { columns, rowCount, isCut: stored > limit, rows: rows(), writeParquet };
}

type Shaped = Pick<Awaited<ReturnType<Connection["stream"]>>, "columnNames" | "columnTypes">;
type Cells = readonly Parameters<typeof jsonValueFrom>[0][];

/** The columns of a result, and the function that converts its cells to rows. */
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

/** DuckDB errors that do not concern the statement. They stay unchanged. */
const others = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|Serialization) Error/i;

/** DuckDB's reasons for refusing a statement on a read-only connection. */
const refused = /disabled (by|through) configuration|read-only mode|configuration has been locked/;

/**
 * Converts the error of a statement to a usage error with DuckDB's reason and position. `hidden` is an internal name, which no
 * message shows. Returns any other error unchanged.
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
