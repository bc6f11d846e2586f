import { sqlText, type withDuckDb } from "../database/duckdb.js";
import { sqlTypes } from "../database/select-jsonl.js";
import { StopError } from "../errors.js";
import { type ColumnType, columns, type Kind } from "../rows/columns.js";
import { shortTextSql } from "./long-text.js";
import { type ReadRow, type RowSource, UnreadableError } from "./row-source.js";

export type Connection = Parameters<Parameters<typeof withDuckDb>[2]>[0];

/** The rows of a Parquet file, which must have exactly the columns, in order, each of its type. */
export function parquetRows(
  connection: Connection,
  name: string,
  kind: Kind,
  path: string,
  texts: "short" | "whole" = "short",
): RowSource {
  const table = parquetTable(path);
  return {
    name,
    kind,
    async *read() {
      const wrong = await otherColumns(connection, kind, table).catch(unreadable);
      if (wrong !== undefined) throw new UnreadableError(`has other columns: ${wrong}`);
      yield* sqlRows(connection, kind, table, texts);
    },
  };
}

/** The rows of a table of a database, or of a part of it: `dump.chunks WHERE …`. */
export function tableRows(connection: Connection, name: string, kind: Kind, table: string): RowSource {
  return { name, kind, read: () => sqlRows(connection, kind, table) };
}

/** SQL: a Parquet file. Its path may look like a pattern or a partition and is neither. */
function parquetTable(path: string): string {
  return `read_parquet(${sqlText(path.replace(/[*?[]/g, "[$&]"))}, hive_partitioning = false)`;
}

/** The columns of a Parquet file; undefined when they are those that it should have. */
async function otherColumns(connection: Connection, kind: Kind, table: string): Promise<string | undefined> {
  const found = await connection.runAndReadAll(
    `SELECT column_name || ' ' || column_type FROM (DESCRIBE FROM ${table})`,
  );
  const names = found.getColumns()[0]?.join(", ") ?? "";
  const expected = columns[kind].map(({ name, type }) => `${name} ${sqlTypes[type].replace(/^JSON$/, "VARCHAR")}`);
  return names === expected.join(", ") ? undefined : names;
}

/**
 * The rows of a table, `dump.chunks WHERE …`, in its order. Each comes as one JSON text, because the client takes a byte
 * order mark off the start of a text, and a row in pieces takes longer.
 */
async function* sqlRows(
  connection: Connection,
  kind: Kind,
  table: string,
  texts: "short" | "whole" = "short",
): AsyncGenerator<Iterable<ReadRow>> {
  const cells = columns[kind].map(({ name, type }) => cellText(`"${name}"`, type, texts));
  const select = `SELECT to_json([${cells.join(", ")}])::VARCHAR FROM ${table}`;
  const result = await connection.stream(select).catch(unreadable);
  let rows = 0;
  for (;;) {
    const chunk = await result.fetchChunk().catch(unreadable);
    if (!chunk || chunk.rowCount === 0) break;
    yield rowsOf(chunk, rows + 1);
    rows += chunk.rowCount;
  }
  await checkEnd(connection, table, select, rows);
}

/** A stream ends without a word when it fails: what it did not give is asked for once more, in a way that says why. */
async function checkEnd(connection: Connection, table: string, select: string, rows: number): Promise<void> {
  const count = `SELECT count(*)::VARCHAR FROM ${table}`;
  const expected = Number((await connection.runAndReadAll(count).catch(unreadable)).getRowsJson()[0]?.[0]);
  if (rows === expected) return;
  await connection.run(`SELECT max(strlen(cells)) FROM (${select}) t(cells)`).catch(unreadable);
  throw new StopError(`DuckDB gave ${rows} of ${expected} rows; it lacks memory: try again with --memory=2GB`);
}

type Chunk = NonNullable<Awaited<ReturnType<Awaited<ReturnType<Connection["stream"]>>["fetchChunk"]>>>;

function* rowsOf(chunk: Chunk, first: number): Generator<ReadRow> {
  const texts = chunk.getColumnVector(0);
  for (let at = 0; at < chunk.rowCount; at++) yield { row: first + at, text: JSON.parse(String(texts.getItem(at))) };
}

/** SQL: a cell as the text formats have it. */
function cellText(column: string, type: ColumnType, texts: "short" | "whole"): string {
  if (type === "strings") return `to_json(${column})::VARCHAR`;
  if (type === "text") return texts === "short" ? shortTextSql(column) : column;
  return type === "time" ? isoText(column) : `${column}::VARCHAR`;
}

/** Microseconds, which no other format has, are not left out but shown. */
function isoText(column: string): string {
  const text = (format: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S${format}Z')`;
  const micros = `epoch_us(${column})`;
  return `CASE WHEN ${micros} % 1000000 = 0 THEN ${text("")} WHEN ${micros} % 1000 = 0 THEN ${text(".%g")} ELSE ${text(".%f")} END`;
}

export function lacksMemory(error: unknown): boolean {
  return error instanceof Error && /out of memory|(could not|failed to) allocate/i.test(error.message);
}

/** What DuckDB says of a file that it cannot read; what it lacks itself, memory or disk, is no fault of the file. */
export function unreadable(error: unknown): never {
  if (!(error instanceof Error) || lacksMemory(error) || /no space left|interrupt/i.test(error.message)) throw error;
  throw new UnreadableError(error.message.split("\n")[0] ?? "");
}
