import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { StopError } from "../../src/errors.js";
import { inFull } from "../rounds.js";
import { chunk, JobDatabase, read } from "./job-database.js";

it.runIf(inFull)("of the database of earlier runs no copy is left", async () => {
  const database = await JobDatabase.create();
  await database.run("r1", { chunks: [chunk("a", "a1")], documents: [read("a")] });
  const scratch = await database.run("r2", {});
  expect((await readdir(scratch)).filter((name) => !name.endsWith(".jsonl"))).toEqual([]);
  expect(await readdir(database.folder)).toEqual(["job.duckdb"]);
});

describe("a file that is no database", () => {
  it.each([
    ["text", "these are my notes\n".repeat(500)],
    ["empty", ""],
    ["cut off", `${"\0".repeat(8)}DUCK`],
  ])("(%s) is left as it is, and the error names it and says what to do", async (_what, content) => {
    const database = await JobDatabase.create();
    await writeFile(database.path, content);
    database.accept();
    const error = await database.run("r1", {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StopError);
    expect(String(error)).toContain(`${database.path} cannot be read; move it away`);
    expect(String(error)).not.toContain("new.duckdb");
    expect(await readFile(database.path, "utf8")).toBe(content);
    expect(await readdir(database.folder)).toEqual(["job.duckdb"]);
  });
});
