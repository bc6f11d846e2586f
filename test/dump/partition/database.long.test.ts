import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { query } from "../../database/query.js";
import { fileFormats, startDatasets, threeDatasets } from "./datasets.js";

const all = { output: { formats: [...fileFormats, "duckdb"] } };

/** All rows in all tables of a database, sorted. */
async function contentsOf(database: string): Promise<Readonly<Record<string, unknown>>> {
  const tables = await query("SELECT table_name FROM duckdb_tables() WHERE database_name = 'own' ORDER BY 1", database);
  const contents: Record<string, unknown> = {};
  for (const [name] of tables) contents[String(name)] = await query(`FROM ${name} ORDER BY ALL`, database);
  return contents;
}

test("the database equals that of whole files, also when it is rebuilt from the published runs", async () => {
  const { store, documents } = threeDatasets();
  const { run, place } = await startDatasets(store);
  const database = (partition: "none" | "dataset") => join(place(partition), "test.duckdb");
  const both = async () => [await contentsOf(database("dataset")), await contentsOf(database("none"))];
  for (const partition of ["none", "dataset"] as const) await run(partition, all);
  Object.assign(documents[0].chunks[3] ?? {}, { content: "edited" });
  documents[1].chunks.splice(1, 1);
  const later = { now: () => new Date("2026-11-21T02:00:00.123Z") };
  for (const partition of ["none", "dataset"] as const) await run(partition, all, later);
  const [divided, whole] = await both();
  expect(divided).toEqual(whole);
  expect(divided?.chunk_changes).toHaveLength(2);
  await rm(database("dataset"));
  const last = { now: () => new Date("2026-11-22T02:00:00.123Z") };
  for (const partition of ["none", "dataset"] as const) await run(partition, all, last);
  const [again, grown] = await both();
  expect(again).toEqual(grown);
});
