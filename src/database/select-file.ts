import { resolve } from "node:path";
import { type ColumnType, columns, type Kind } from "../rows/columns.js";
import { sqlText } from "./duckdb.js";
import { selectFromJsonl } from "./select-jsonl.js";

/** A file of rows of a published run. */
export interface RowFile {
  readonly path: string;
  readonly format: "jsonl" | "csv" | "parquet";
  /** Bytes of the longest line, in CSV of the longest row. */
  readonly longestLine: number;
  /** Whether there may be numbers of more digits than a double holds. */
  readonly longNumbers?: boolean;
}

/**
 * SQL: the rows of a file, with the columns of its kind, whatever its format. JSON comes as DuckDB's type JSON, as the tables
 * of the database have it, or as VARCHAR, as Parquet has it.
 */
export function selectFromFile(kind: Kind, file: RowFile, json: "JSON" | "VARCHAR"): string {
  const { path, format, longestLine } = file;
  if (format === "jsonl") return selectFromJsonl(kind, file, json);
  const literal = sqlText(resolve(path).replace(/[*?[]/g, "[$&]")); // a path may look like a pattern and is none
  if (format === "parquet") {
    const cells = columns[kind].map(({ name, type }) =>
      isJson(type) ? `"${name}"::${json} AS "${name}"` : `"${name}"`,
    );
    return `SELECT ${cells.join(", ")} FROM read_parquet(${literal}, hive_partitioning = false)`;
  }
  const cells = columns[kind].map(({ name, type }) => `${cell(name, type, json)} AS "${name}"`);
  const names = columns[kind].map(({ name }) => `"${name}": 'VARCHAR'`);
  return `SELECT ${cells.join(", ")} FROM read_csv(${literal}, hive_partitioning = false, auto_detect = false, header = true,
    delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    strict_mode = true, max_line_size = ${Math.max(2_097_152, longestLine + 1024)}, columns = {${names.join(", ")}})`;
}

const isJson = (type: ColumnType) => type === "list" || type === "object";

/** SQL: a cell of CSV as the type that its column has. */
function cell(name: string, type: ColumnType, json: "JSON" | "VARCHAR"): string {
  switch (type) {
    case "list":
    case "object":
      return `"${name}"::${json}`;
    case "integer":
      return `"${name}"::BIGINT`;
    case "boolean":
      return `"${name}"::BOOLEAN`;
    case "time":
      return `"${name}"::TIMESTAMP`;
    case "strings":
      return `from_json("${name}"::JSON, '["VARCHAR"]')`;
    default:
      return `"${name}"`;
  }
}

/** SQL: a text without the apostrophe that `csv_safe` may have put before a formula; it cannot be told from one of the text. */
export function unguardedSql(column: string): string {
  return `CASE WHEN regexp_matches(${column}, '^''[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]') THEN ${column}[2:] ELSE ${column} END`;
}
