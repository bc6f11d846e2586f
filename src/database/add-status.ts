import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { columns } from "../rows/columns.js";
import { seal } from "../sinks/seal.js";
import type { JsonlFile } from "../sinks/sink.js";
import { copyDatabase } from "./copy-database.js";
import { type DuckDbOptions, withDuckDb } from "./duckdb.js";
import { selectFromJsonl } from "./select-jsonl.js";
import { createTables } from "./tables.js";
import { createViews } from "./views.js";

const names = columns.indexing_status.map(({ name }) => `"${name}"`).join(", ");
const key = ["captured_at", "dataset_id", "batch", "document_id"];
const same = key.map((name) => `s.${name} IS NOT DISTINCT FROM f.${name}`).join(" AND ");

/** Adds readings of the indexing status, as SQL selects them; those that are there already are not added again. */
export async function addStatus(connection: DuckDBConnection, select: string): Promise<void> {
  await connection.run(`INSERT INTO indexing_status (${names})
    SELECT * FROM (${select}) f
    WHERE NOT EXISTS (FROM indexing_status s WHERE ${same})`);
}

/** Makes `target`: a copy of the database with readings of the indexing status added, or a new one with nothing else in it. */
export async function copyWithStatus(
  previous: string | undefined,
  target: string,
  files: readonly JsonlFile[],
  options: DuckDbOptions,
): Promise<void> {
  await rm(target, { force: true });
  if (previous !== undefined) await copyDatabase(previous, target, options);
  await withDuckDb(target, options, async (connection) => {
    await createTables(connection);
    await createViews(connection);
    for (const file of files) await addStatus(connection, selectFromJsonl("indexing_status", file));
    await connection.run("CHECKPOINT");
  });
  await seal(target);
}
