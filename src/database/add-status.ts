import { rm } from "node:fs/promises";
import { type Connection, type DuckDbOptions, withDuckDb } from "../duckdb/open-duckdb.js";
import { seal } from "../dump/files/seal.js";
import type { RowFiles } from "../dump/formats/format.js";
import { selectRows } from "../dump/formats/jsonl/sql.js";
import { columns } from "../rows/columns.js";
import { bringUpToDate, columnsOf } from "./bring-up-to-date.js";
import { copyDatabase } from "./copy-database.js";
import { createTables } from "./tables.js";
import { createViews } from "./views.js";

const names = columns.indexing_status.map(({ name }) => `"${name}"`).join(", ");
const key = ["captured_at", "dataset_id", "batch", "document_id"];
const same = key.map((name) => `s.${name} IS NOT DISTINCT FROM f.${name}`).join(" AND ");

/** Adds readings of the indexing status, as SQL selects them; those that are there already are not added again. */
export async function addStatus(connection: Connection, select: string): Promise<void> {
  await connection.run(`INSERT INTO indexing_status (${names})
    SELECT * FROM (${select}) f
    WHERE NOT EXISTS (FROM indexing_status s WHERE ${same})`);
}

/** Makes `target`: a copy of the database with readings of the indexing status added, or a new one with nothing else in it. */
export async function copyWithStatus(
  previous: string | undefined,
  target: string,
  files: readonly RowFiles[],
  options: DuckDbOptions,
): Promise<void> {
  await rm(target, { force: true });
  if (previous !== undefined) await copyDatabase(previous, target, options);
  await withDuckDb(target, options, async (connection) => {
    await bringUpToDate(connection, "current", await columnsOf(connection, "current"));
    await createTables(connection);
    await createViews(connection);
    for (const file of files) await addStatus(connection, selectRows("indexing_status", file, "JSON"));
    await connection.run("CHECKPOINT");
  });
  await seal(target);
}
