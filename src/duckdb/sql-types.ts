import type { ColumnType } from "../rows/column.js";

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

/** Whether DuckDB holds a column as JSON. */
export function isJson(type: ColumnType): boolean {
  return sqlTypes[type] === "JSON";
}
