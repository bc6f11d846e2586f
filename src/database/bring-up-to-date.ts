import type { Connection } from "../duckdb/open-duckdb.js";
import { sqlTypes, zonedTime, zonelessTime } from "../duckdb/sql.js";
import { createTable, tables } from "./tables.js";

/** The types of the columns of a database, by table and column. */
export type FoundColumns = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The columns of the database that is in use, or of the one that is attached as `previous`. */
export async function columnsOf(connection: Connection, which: "current" | "previous"): Promise<FoundColumns> {
  const result = await connection.runAndReadAll(
    `SELECT table_name, column_name, data_type FROM duckdb_columns()
    WHERE database_name = ${which === "current" ? "current_database()" : "'previous'"} AND schema_name = 'main'`,
  );
  const found = new Map<string, Map<string, string>>();
  for (const [table, column, type] of result.getRowsJson()) {
    const columns = found.get(String(table)) ?? new Map<string, string>();
    found.set(String(table), columns.set(String(column), String(type)));
  }
  return found;
}

/**
 * Adds the tables and columns that a database of an older kbdump lacks, and gives a zone to its times, which are UTC without
 * one. `found` are the columns that it has.
 */
export async function bringUpToDate(
  connection: Connection,
  which: "current" | "previous",
  found: FoundColumns,
): Promise<void> {
  const statements = Object.entries(tables).flatMap(([table, { columns }]) => {
    const name = which === "current" ? table : `previous.main.${table}`;
    const types = found.get(table);
    if (!types) return [createTable(name, columns)];
    const missing = columns.filter((each) => !types.has(each.name));
    const zoneless = columns.filter((each) => each.type === sqlTypes.time && types.get(each.name) === zonelessTime);
    return [
      ...missing.map((each) => `ALTER TABLE ${name} ADD COLUMN "${each.name}" ${each.type}`),
      ...zoneless.map(
        (each) => `ALTER TABLE ${name} ALTER "${each.name}" TYPE ${each.type} USING ${zonedTime(`"${each.name}"`)}`,
      ),
    ];
  });
  if (statements.length > 0) await connection.run(["BEGIN", ...statements, "COMMIT"].join(";\n"));
}
