import { resolve } from "node:path";
import type { MatchedKind } from "../match/fingerprint.js";
import { type ColumnType, columns } from "../normalise/columns.js";
import { sqlText } from "../sinks/duckdb-open.js";
import { selectFromJsonl } from "../sinks/duckdb-read.js";
import type { CheckedSource } from "./check-source.js";

/** SQL: the rows of a file, with the columns of its kind; the types are those of Parquet, whatever the format. */
export function sourceSql(kind: MatchedKind, { path, format, longestLine }: CheckedSource): string {
  if (format === "jsonl") return selectFromJsonl(kind, { path, longestLine, longNumbers: false }, "VARCHAR");
  const literal = sqlText(resolve(path).replace(/[*?[]/g, "[$&]")); // a path may look like a pattern and is none
  if (format === "parquet") return `FROM read_parquet(${literal}, hive_partitioning = false)`;
  const cells = columns[kind].map(({ name, type }) => `${cell(name, type)} AS "${name}"`);
  const names = columns[kind].map(({ name }) => `"${name}": 'VARCHAR'`);
  return `SELECT ${cells.join(", ")} FROM read_csv(${literal}, hive_partitioning = false, auto_detect = false, header = true,
    delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    strict_mode = true, max_line_size = ${Math.max(2_097_152, longestLine + 1024)}, columns = {${names.join(", ")}})`;
}

/** SQL: a cell of CSV as the type that its column has. */
function cell(name: string, type: ColumnType): string {
  switch (type) {
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
