import { type Connection, isOwnError } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { sqlText, sqlTypes, utcTime } from "../../duckdb/sql.js";
import { StopError } from "../../errors.js";
import { UnreadableError } from "../../files/files.js";
import { type Column, columns, type Kind } from "../../rows/columns.js";
import { type Rows, type RowText, shortTextSql } from "./cells.js";

/** The rows of a Parquet file, which must have exactly the columns, in order, each of its type. */
export async function* parquetRows(path: string, kind: Kind, connection: Connection): Rows {
  const table = parquetTable(path);
  const wrong = await otherColumns(connection, kind, table).catch(unreadable);
  if (wrong !== undefined) throw new UnreadableError(`has other columns: ${wrong}`);
  yield* sqlRows(connection, kind, table);
}

/** SQL: a Parquet file. Its path may look like a pattern or a partition and is neither. */
function parquetTable(path: string): string {
  return `read_parquet(${sqlText(path.replace(/[*?[]/g, "[$&]"))}, hive_partitioning = false)`;
}

/** The columns of a Parquet file; undefined when they are those that it should have. */
async function otherColumns(connection: Connection, kind: Kind, table: string): Promise<string | undefined> {
  const described = await connection.runAndReadAll(
    `SELECT column_name || ' ' || column_type FROM (DESCRIBE FROM ${table})`,
  );
  const found = described.getColumns()[0]?.join(", ") ?? "";
  const wanted = columns[kind].map(({ name, type }) => `${name} ${sqlTypes[type].replace(/^JSON$/, "VARCHAR")}`);
  return found === wanted.join(", ") ? undefined : found;
}

/**
 * The rows of a table, `dump.chunks WHERE …`, in its order. Each comes as one JSON text, because the client takes a byte
 * order mark off the start of a text, and a row in pieces takes longer.
 */
export async function* sqlRows(connection: Connection, kind: Kind, table: string): Rows {
  const cells = columns[kind].map(cellText);
  try {
    for await (const texts of streamTexts(connection, `to_json([${cells.join(", ")}])::VARCHAR`, table))
      yield rowsFrom(texts);
  } catch (error) {
    unreadable(error);
  }
}

function* rowsFrom(texts: Iterable<string>): Generator<RowText> {
  for (const text of texts) yield JSON.parse(text);
}

/** SQL: a cell as the text formats have it. */
function cellText({ name, type, long }: Column): string {
  const column = `"${name}"`;
  if (type === "strings") return `to_json(${column})::VARCHAR`;
  if (long) return shortTextSql(column);
  return type === "time" ? isoText(column) : `${column}::VARCHAR`;
}

/** Microseconds, which no other format has, are not left out but shown. */
function isoText(column: string): string {
  const text = (format: string) => `strftime(${utcTime(column)}, '%Y-%m-%dT%H:%M:%S${format}Z')`;
  const micros = `epoch_us(${column})`;
  return `CASE WHEN ${micros} % 1000000 = 0 THEN ${text("")} WHEN ${micros} % 1000 = 0 THEN ${text(".%g")} ELSE ${text(".%f")} END`;
}

/** Throws an error of DuckDB as that of the file; a lack of memory or disk is no fault of the file, and stays as it is. */
export function unreadable(error: unknown): never {
  if (!(error instanceof Error) || error instanceof StopError || isOwnError(error)) throw error;
  throw new UnreadableError(error.message.split("\n")[0] ?? "");
}
