import { resolve } from "node:path";
import type { ColumnType } from "../rows/columns.js";

/** A string as SQL text. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as SQL text. It is absolute: DuckDB takes `~` at the start of one for the home folder. */
export function sqlPath(path: string): string {
  return sqlText(resolve(path));
}

/** The path of a file that DuckDB reads, as SQL text: it may look like a pattern, and is none. */
function sqlFile(path: string): string {
  return sqlText(resolve(path).replace(/[*?[]/g, "[$&]"));
}

/** Several of them: the rows of one follow those of the other. */
export function sqlFiles(paths: readonly string[]): string {
  return `[${paths.map(sqlFile).join(", ")}]`;
}

/** The type of a column in DuckDB, under the name that DuckDB gives it. */
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

/** SQL: a time with or without a zone as TIMESTAMP in UTC. Needs no extension, and no session changes it. */
export function utcTime(time: string): string {
  return `make_timestamp(epoch_us(${time}))`;
}

/** SQL: a time without a zone, which is UTC, as TIMESTAMP WITH TIME ZONE. No session changes it. */
export function zonedTime(time: string): string {
  return `make_timestamptz(epoch_us(${time}))`;
}

/** Whether DuckDB holds a column as JSON. */
export function isJson(type: ColumnType): boolean {
  return sqlTypes[type] === "JSON";
}
