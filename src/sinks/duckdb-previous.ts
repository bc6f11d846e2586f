import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { StopError } from "../errors.js";
import { copyDatabase } from "./duckdb-copy.js";
import { type DuckDbOptions, sqlPath, sqlText } from "./duckdb-open.js";
import { tables } from "./duckdb-tables.js";

/** The database of earlier runs. */
export interface Previous {
  readonly path: string;
  /** Ours alone. */
  readonly copy: string;
}

/** Runs `work` with a copy of the database at `path`, if there is one, beside `target`, and removes the copy. */
export async function withPrevious(
  path: string | undefined,
  options: DuckDbOptions & { readonly target: string },
  work: (previous?: Previous) => Promise<void>,
): Promise<void> {
  if (path === undefined) return work();
  const copy = `${options.target}.previous`;
  try {
    await copyDatabase(path, copy, options);
    await work({ path, copy });
  } finally {
    await rm(copy, { force: true });
  }
}

const noneIn = (table: string) =>
  `NOT EXISTS (FROM ${table} n WHERE n.dataset_id = p.dataset_id AND n.document_id = p.document_id)`;
const notReadNow = noneIn("read_now");

/**
 * Fills the tables with what earlier runs know of documents that are not in `read_now` or `listed_now`, and with their history. A run that
 * was killed when its database was in place is finished once more: what it says of that is left out.
 */
export async function keepPrevious(
  connection: DuckDBConnection,
  { path, copy }: Previous,
  runId: string,
): Promise<void> {
  const kept: Readonly<Record<string, string>> = {
    chunks: notReadNow,
    child_chunks: notReadNow,
    documents: notReadNow,
    document_info: noneIn("listed_now"),
    runs: `run_id <> ${sqlText(runId)}`,
    chunk_changes: `run_id <> ${sqlText(runId)}`,
    document_changes: `run_id <> ${sqlText(runId)}`,
  };
  await connection.run(`ATTACH ${sqlPath(copy)} AS previous (READ_ONLY)`);
  for (const name of await earlierTables(connection, path)) {
    const where = kept[name] ?? "true";
    await connection.run(`INSERT INTO ${name} BY NAME SELECT * FROM previous.${name} p WHERE ${where}`);
  }
  await connection.run("DETACH previous");
}

/** Our tables among those of the database of earlier runs; it may lack some, but must have no column that we would lose. */
async function earlierTables(connection: DuckDBConnection, path: string): Promise<readonly string[]> {
  const found = await connection.runAndReadAll(
    "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'previous' AND schema_name = 'main'",
  );
  const names = new Set<string>();
  for (const [table, column] of found.getRowsJson()) {
    const known = Object.entries(tables).find(([name]) => name === table);
    if (!known) continue;
    const [name, { columns }] = known;
    if (!columns.some((each) => each.name === column)) {
      throw new StopError(`${path} has a column that this kbdump does not know, ${table}.${column}: use a newer one`);
    }
    names.add(name);
  }
  return [...names];
}
