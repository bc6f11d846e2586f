import type { ColumnType } from "../rows/column.js";

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

/** The type of times before kbdump 0.2: UTC, without a zone. */
export const zonelessTime = "TIMESTAMP";

/** SQL: a time with or without a zone as TIMESTAMP in UTC. Needs no extension, and no session changes it. */
export function utcTime(time: string): string {
  return `make_timestamp(epoch_us(${time}))`;
}

/** SQL: a time with or without a zone as TIMESTAMP WITH TIME ZONE; one without is UTC. No session changes it. */
export function zonedTime(time: string): string {
  return `make_timestamptz(epoch_us(${time}))`;
}

/** Whether DuckDB holds a column as JSON. */
export function isJson(type: ColumnType): boolean {
  return sqlTypes[type] === "JSON";
}
