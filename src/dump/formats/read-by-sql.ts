import { isOwnError, openDuckDb } from "../../duckdb/open-duckdb.js";
import { utcTime } from "../../duckdb/sql-types.js";
import { streamTexts } from "../../duckdb/stream-texts.js";
import type { ColumnType } from "../../rows/column.js";
import { columns, type Kind } from "../../rows/columns.js";
import { UnreadableError } from "../files/unreadable-error.js";
import type { ReadRows, SelectRows } from "./format.js";
import { jsonLine } from "./json-line.js";

/** Reads the rows of a file by DuckDB, and gives each as a line of JSON. */
export function readRowsBy(selectRows: SelectRows): ReadRows {
  return async function* (kind, file, options) {
    const cells = columns[kind].map(({ name, type }) => cellSql(`"${name}"`, type));
    // One text a row: the client takes a byte order mark off the start of a text, which a cell may begin with.
    const row = `to_json([${cells.join(", ")}])::VARCHAR`;
    const { connection, close } = await openDuckDb(":memory:", options);
    try {
      for await (const texts of streamTexts(connection, row, `(${selectRows(kind, file, "VARCHAR")})`))
        yield linesOf(kind, texts);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isOwnError(error)) throw error;
      throw new UnreadableError(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
    } finally {
      close();
    }
  };
}

/** Made one by one, as they are taken: the rows of a chunk may be long. */
function* linesOf(kind: Kind, texts: Iterable<string>): Generator<string> {
  for (const text of texts) yield jsonLine(kind, JSON.parse(text));
}

/** SQL: a cell as text. */
function cellSql(column: string, type: ColumnType): string {
  if (type === "strings") return `to_json(${column})::VARCHAR`;
  return type === "time" ? timeSql(column) : `${column}::VARCHAR`;
}

/** SQL: a time as JSONL has it, with milliseconds only where there are some. */
function timeSql(column: string): string {
  const text = (fraction: string) => `strftime(${utcTime(column)}, '%Y-%m-%dT%H:%M:%S${fraction}Z')`;
  return `CASE WHEN epoch_us(${column}) % 1000000 = 0 THEN ${text("")} ELSE ${text(".%g")} END`;
}
