import { type Connection, isOwnError } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { sqlFiles, sqlTypes, utcTime } from "../../duckdb/sql.js";
import { UnreadableError } from "../../files/files.js";
import { type Column, columns, type Kind } from "../../rows/columns.js";
import { type Rows, type RowText, shortTextSql } from "./canonical-cells.js";

/** The rows of a Parquet file, which must have exactly the expected columns, in order and of the right types. */
export async function* parquetRows(path: string, kind: Kind, connection: Connection): Rows {
  const table = `read_parquet(${sqlFiles([path])}, hive_partitioning = false)`;
  const described = `SELECT column_name || ' ' || column_type FROM (DESCRIBE FROM ${table})`;
  const found = (await connection.runAndReadAll(described).catch(unreadable)).getColumns()[0]?.join(", ") ?? "";
  const wanted = columns[kind].map(({ name, type }) => `${name} ${sqlTypes[type].replace(/^JSON$/, "VARCHAR")}`);
  if (found !== wanted.join(", ")) throw new UnreadableError(`has other columns: ${found}`);
  yield* sqlRows(connection, kind, table);
}

/**
 * The rows of a table, `dump.chunks WHERE …`, in its order. Each is read as one JSON text, because the client strips a byte
 * order mark from the start of a text, and reading single cells is slower.
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

/** SQL: a cell as the text that JSONL and CSV have. */
function cellText({ name, type, long }: Column): string {
  const column = `"${name}"`;
  if (type === "strings") return `to_json(${column})::VARCHAR`;
  if (long) return shortTextSql(column);
  return type === "time" ? isoText(column) : `${column}::VARCHAR`;
}

/** SQL: a time as ISO text, with microseconds if it has any, although the other formats have none. */
function isoText(column: string): string {
  const text = (format: string) => `strftime(${utcTime(column)}, '%Y-%m-%dT%H:%M:%S${format}Z')`;
  const micros = `epoch_us(${column})`;
  return `CASE WHEN ${micros} % 1000000 = 0 THEN ${text("")} WHEN ${micros} % 1000 = 0 THEN ${text(".%g")} ELSE ${text(".%f")} END`;
}

/** Rethrows a DuckDB error as an UnreadableError of the file, but leaves a lack of memory or disk space unchanged. */
export function unreadable(error: unknown): never {
  if (!(error instanceof Error) || isOwnError(error)) throw error;
  throw new UnreadableError(error.message.split("\n")[0] ?? "");
}
