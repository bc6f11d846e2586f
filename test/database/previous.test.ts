import { readdir, readFile, writeFile } from "node:fs/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it } from "vitest";
import { StopError } from "../../src/errors.js";
import { chunk, JobDatabase, read, reading } from "./job-database.js";

/** The database of earlier runs, made with SQL. */
async function previousOf(...statements: readonly string[]): Promise<JobDatabase> {
  const database = await JobDatabase.create();
  const instance = await DuckDBInstance.create(database.path);
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  await connection.run("CHECKPOINT");
  connection.closeSync();
  instance.closeSync();
  database.adopt();
  return database;
}

describe("the database of an older kbdump", () => {
  it("that lacks tables and columns is taken over", async () => {
    const database = await previousOf(
      "CREATE TABLE chunks (id VARCHAR, document_id VARCHAR, dataset_id VARCHAR, content VARCHAR, run_id VARCHAR)",
      "INSERT INTO chunks VALUES ('old', 'a', 'd', 'text', 'r0')",
      "CREATE TABLE runs (run_id VARCHAR)",
      "INSERT INTO runs VALUES ('r0')",
    );
    await database.run("r1", { chunks: [chunk("b", "new")], documents: [read("b")] });
    expect(
      await database.query("SELECT dataset_id, id, content, summary, run_id FROM chunks WHERE id = 'old'"),
    ).toEqual([["d", "old", "text", null, "r0"]]);
    expect(await database.query("SELECT run_id, status FROM runs ORDER BY ALL")).toEqual([
      ["r0", null],
      ["r1", "complete"],
    ]);
    expect(await database.query("SELECT count(*)::INTEGER FROM chunks")).toEqual([[2]]);
  });

  it("with nothing of ours in it is taken over, what is not ours is not", async () => {
    const database = await previousOf(
      "CREATE TABLE notes (text VARCHAR)",
      "CREATE TABLE constructor (toString VARCHAR)",
      "CREATE SCHEMA chunks",
      "CREATE TABLE chunks.runs (x VARCHAR)",
    );
    await database.run("r1", { indexing_status: [reading("2025-03-06T13:20:00Z", "a")] });
    expect(await database.query("SELECT run_id FROM runs")).toEqual([["r1"]]);
    expect(await database.query("SELECT table_name FROM duckdb_tables() WHERE table_name = 'notes'")).toEqual([]);
  });
});

it("of the database of earlier runs no copy is left", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", { chunks: [chunk("a", "a1")], documents: [read("a")] });
  const scratch = await database.run("r2", {});
  expect((await readdir(scratch)).filter((name) => !name.endsWith(".jsonl"))).toEqual([]);
  expect(await readdir(database.folder)).toEqual(["job.duckdb"]);
});

it("the database of a newer kbdump is refused, for a column of it would be lost", async () => {
  const database = await previousOf("CREATE TABLE chunks (id VARCHAR, vector FLOAT[])");
  await expect(database.run("r1", {})).rejects.toThrow(StopError);
  await expect(database.run("r1", {})).rejects.toThrow(
    `${database.path} has a column that this kbdump does not know, chunks.vector`,
  );
});

describe("a file that is no database", () => {
  it.each([
    ["text", "these are my notes\n".repeat(500)],
    ["empty", ""],
    ["cut off", `${"\0".repeat(8)}DUCK`],
  ])("(%s) is left as it is, and the error names it and says what to do", async (_what, content) => {
    const database = await JobDatabase.create();
    await writeFile(database.path, content);
    database.adopt();
    const error = await database.run("r1", {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StopError);
    expect(String(error)).toContain(`${database.path} cannot be read; move it away`);
    expect(String(error)).not.toContain("new.duckdb");
    expect(await readFile(database.path, "utf8")).toBe(content);
    expect(await readdir(database.folder)).toEqual(["job.duckdb"]);
  });
});
