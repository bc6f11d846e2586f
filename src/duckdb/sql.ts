import { resolve } from "node:path";
import type { ColumnType } from "../rows/columns.js";

/** A string as SQL text. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as SQL text. It is made absolute, because DuckDB replaces a leading `~` with the home folder. */
export function sqlPath(path: string): string {
  return sqlText(resolve(path));
}

/** The path of a file that DuckDB reads, as SQL text. Escapes characters that would make it a pattern. */
function sqlFile(path: string): string {
  return sqlText(resolve(path).replace(/[*?[]/g, "[$&]"));
}

/** Several files, whose rows are read in sequence. */
export function sqlFiles(paths: readonly string[]): string {
  return `[${paths.map(sqlFile).join(", ")}]`;
}

/** DuckDB's name for the type of a column. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "VARCHAR",
  integer: "BIGINT",
  boolean: "BOOLEAN",
  time: "TIMESTAMP WITH TIME ZONE",
  strings: "VARCHAR[]",
  list: "JSON",
  object: "JSON",
  any: "VARCHAR",
};

/** SQL: converts a time with or without a zone to TIMESTAMP in UTC. Needs no extension and does not depend on the session. */
export function utcTime(time: string): string {
  return `make_timestamp(epoch_us(${time}))`;
}

/** SQL: converts a UTC time without a zone to TIMESTAMP WITH TIME ZONE. Does not depend on the session. */
export function zonedTime(time: string): string {
  return `make_timestamptz(epoch_us(${time}))`;
}

/** Whether DuckDB stores a column as JSON. */
export function isJson(type: ColumnType): boolean {
  return sqlTypes[type] === "JSON";
}
