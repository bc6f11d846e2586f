import { sqlFiles } from "../../../duckdb/sql-text.js";
import { sqlTypes } from "../../../duckdb/sql-types.js";
import type { ColumnType } from "../../../rows/column.js";
import { columns, type Kind } from "../../../rows/columns.js";
import type { SelectRows } from "../format.js";

export const hasQuotedLines = true;

/** SQL: the rows of CSV files. */
export const selectRows: SelectRows = (kind, { paths, longestLine }, json) => {
  const cells = columns[kind].map(({ name, type }) => `${cell(name, type, json)} AS "${name}"`);
  const names = columns[kind].map(({ name }) => `"${name}": 'VARCHAR'`);
  return `SELECT ${cells.join(", ")} FROM read_csv(${sqlFiles(paths)}, hive_partitioning = false, auto_detect = false, header = true,
    delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
    strict_mode = true, max_line_size = ${Math.max(2_097_152, longestLine + 1024)}, columns = {${names.join(", ")}})`;
};

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
      return `"${name}"::${sqlTypes.time}`;
    case "strings":
      return `from_json("${name}"::JSON, '["VARCHAR"]')`;
    default:
      return `"${name}"`;
  }
}

/** SQL: rows with their texts as they were before `csv_safe`. */
export function unguardedRows(kind: Kind, select: string): string {
  const texts = columns[kind].filter(({ type }) => type === "any" || type === "text");
  const replaced = texts.map(({ name }) => `${unguardedSql(name)} AS ${name}`);
  return `(SELECT * REPLACE (${replaced.join(", ")}) FROM (${select}))`;
}

/** SQL: a text without the apostrophe that `csv_safe` may have put before a formula; it cannot be told from one of the text. */
function unguardedSql(column: string): string {
  return `CASE WHEN regexp_matches(${column}, '^''[=+\\-@\\t\\r\uff1d\uff0b\uff0d\uff20]') THEN ${column}[2:] ELSE ${column} END`;
}
