import { type ColumnType, columns, type Kind } from "../normalise/columns.js";
import { sqlText } from "./duckdb-open.js";
import type { JsonlFile } from "./sink.js";

/** The type of a column in DuckDB. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "VARCHAR",
  integer: "BIGINT",
  boolean: "BOOLEAN",
  time: "TIMESTAMP",
  strings: "VARCHAR[]",
  list: "JSON",
  object: "JSON",
  any: "VARCHAR",
};

/** The columns of a kind, read from its JSONL: types are given, never guessed. */
export function selectFromJsonl(kind: Kind, file: JsonlFile, json: "JSON" | "VARCHAR" = "JSON"): string {
  const fields = columns[kind].map(({ name, type }) => `"${name}": '${type === "any" ? "JSON" : sqlTypes[type]}'`);
  return `SELECT ${columns[kind].map(({ name, type }) => expression(name, type, json)).join(", ")}
    FROM read_json(${sqlText(literalPath(file.path))}, format = 'newline_delimited', columns = {${fields.join(", ")}},
      maximum_object_size = ${Math.max(16_777_216, file.longestLine + 1024)})`;
}

/** A value of any type is a string as it is, and JSON text otherwise; Parquet has no JSON type. */
function expression(name: string, type: ColumnType, json: "JSON" | "VARCHAR"): string {
  const column = `"${name}"`;
  if (type === "any") return `CASE json_type(${column}) WHEN 'VARCHAR' THEN ${column} ->> '$' ELSE ${column}::VARCHAR END AS ${column}`;
  return sqlTypes[type] === "JSON" ? `${column}::${json} AS ${column}` : column;
}

/** read_json takes its path for a pattern: `*`, `?` and `[` of a folder's name stand for themselves in brackets. */
function literalPath(path: string): string {
  return path.replace(/[*?[]/g, "[$&]");
}
