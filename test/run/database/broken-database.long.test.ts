import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { loadRuns, runsAfter } from "../../../src/database/prepare-database.js";
import { Dump } from "../../../src/dump/open-dump.js";
import { StopError } from "../../../src/errors.js";
import { runHere } from "../../cli/run-here.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { damageRows } from "../../database/damage-rows.js";
import { change, query, read } from "../../database/query.js";
import { startPublishedPlace } from "./published-job.js";

const damages: readonly (readonly [why: RegExp, damage: (path: string) => Promise<void>])[] = [
  [/could not read enough bytes/i, async (path) => truncate(path, Math.floor((await stat(path)).size / 2))],
  [/some of its blocks are damaged/, damageRows],
];

test("a truncated or damaged database is named before the first request, moved aside and rebuilt", async () => {
  const { place, run, documents, runsInDatabase, warnings, server } = await startPublishedPlace();
  const database = join(place, "test.duckdb");
  const runs = [(await run()).manifest.run_id];
  await writeFile(`${database}.aside`, "mine");
  for (const [at, [why, damage]] of damages.entries()) {
    await damage(database);
    server.reset();
    const asked: number[] = [];
    const log = (level: string, text: string) => {
      if (level === "warn" && why.test(text)) asked.push(server.requests.length);
    };
    const damaged = await readFile(database);
    documents[1]?.chunks.pop();
    const result = await run({ log });
    expect(asked, String(why)).toEqual([0]);
    const aside = `${database}.aside-${at + 2}`;
    const rebuilt = `so it is rebuilt from ${runs.length} run ${at === 0 ? "folder" : "folders"}. Everything else is lost: `;
    expect(result).toMatchObject({
      status: "partial",
      database,
      problems: [
        expect.stringMatching(/test\.duckdb could not be read .*, /),
        `the database that could not be read is kept as ${aside}`,
      ],
    });
    expect(result.problems[0]).toContain(rebuilt);
    expect((await readFile(aside)).equals(damaged)).toBe(true);
    runs.push(result.manifest.run_id);
    expect(await runsInDatabase()).toEqual(runs);
    const changes = await query("SELECT run_id, change FROM chunk_changes ORDER BY 1", database);
    expect(changes).toEqual(runs.slice(1).map((run) => [run, "removed"]));
    expect(await query("SELECT count(*)::INTEGER FROM chunks", database)).toEqual([[9 - at]]);
  }
  warnings.length = 0;
  expect(await run()).toMatchObject({ status: "complete", problems: [] });
  expect(warnings).toEqual([]);
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
  expect(await readFile(`${database}.aside`, "utf8")).toBe("mine");
});

test("a database whose rows are damaged during the crawl is also kept aside and rebuilt", async () => {
  const { place, run, documents, runsInDatabase, server } = await startPublishedPlace();
  const database = join(place, "test.duckdb");
  const runs = [(await run()).manifest.run_id];
  const damaged = join(place, "damaged");
  await copyFile(database, damaged);
  await damageRows(damaged);
  documents[1]?.chunks.pop();
  server.reset();
  let isSound = true;
  const now = () => {
    if (isSound && server.requests.length > 0) {
      copyFileSync(damaged, database); // by now everything is read
      isSound = false;
    }
    return new Date();
  };
  const { manifest, problems } = await run({ now });
  expect(problems).toEqual([
    expect.stringMatching(
      /test\.duckdb could not be read \(some of its blocks are damaged\), so it is rebuilt from 1 /,
    ),
    `the database that could not be read is kept as ${database}.aside`,
  ]);
  expect((await readFile(`${database}.aside`)).equals(await readFile(damaged))).toBe(true);
  expect(await runsInDatabase()).toEqual([...runs, manifest.run_id]);
});

test.skipIf(process.getuid?.() === 0)(
  "a database that may not be read ends the run before anything is asked",
  async () => {
    const { place, run, server } = await startPublishedPlace();
    await run();
    const database = join(place, "test.duckdb");
    await chmod(database, 0);
    server.reset();
    await expect(run()).rejects.toThrow(/permission denied/i);
    expect(server.requests).toEqual([]);
  },
);

test("a database is rebuilt exactly from run folders of each format, and never needs the space of more than one", async () => {
  const formats = ["jsonl", "parquet", "csv"];
  const { place, job, run, documents } = await startPublishedPlace([...formats, "duckdb"]);
  const [odd] = documents[0]?.chunks ?? [];
  if (odd)
    Object.assign(odd, {
      keywords: ["a,b", '"'],
      answer: "",
      error: { code: 1 },
      content: 'two\nlines, "quoted"',
    });
  await run();
  documents[1]?.chunks.pop();
  await run();
  const contentOf = (database: string) =>
    read(database, async (connection) => {
      const tables: unknown[] = [];
      for (const table of ["chunks", "child_chunks", "documents", "runs", "chunk_changes"])
        tables.push((await connection.runAndReadAll(`FROM ${table} ORDER BY ALL`)).getRowsJson());
      return tables;
    });
  const before = await contentOf(join(place, "test.duckdb"));
  const runs = await runsAfter(null, join(place, "runs"), job.name);
  for (const format of formats) {
    const scratch = join(place, format);
    await mkdir(scratch);
    const options = { memory: "500MB", temporary: join(scratch, "spill") };
    const ofFormat = runs.map((run) => withFilesOf(format, run));
    const { database = "", ...loaded } = await loadRuns(ofFormat, undefined, scratch, options);
    expect(loaded).toEqual({ loaded: 2, failures: [] });
    expect(await readdir(scratch)).toEqual([`${runs.at(-1)?.manifest.run_id}.duckdb`]);
    expect(await contentOf(database), format).toEqual(before);
  }
});

/** A run as if it had only the files of this format. */
function withFilesOf(format: string, { folder, manifest }: Dump): Dump {
  const files = manifest.files.filter(({ path }) => path.endsWith(`.${format}`));
  return new Dump(folder, { ...manifest, files }, "it was not loaded");
}

test("a database that is not of kbdump is never replaced: exit 2 before anything is asked", async () => {
  const { place, file, server, run } = await startPublishedPlace();
  await run();
  const database = join(place, "test.duckdb");
  const refusalOf = (what: string) =>
    `${database} ${what}, so it is not the database of this job and is not replaced. Move it away, or give the job another name`;
  const refusal = refusalOf("has no tables of kbdump");
  await change("ALTER TABLE chunks DROP COLUMN summary", database);
  await expect(run()).rejects.toThrow(refusalOf("was written by another version of kbdump"));
  for (const sql of ["CREATE TABLE mine (a INTEGER)", "SELECT 1"]) {
    await rm(database);
    await change(sql, database);
    const before = await readFile(database);
    server.reset();
    await expect(run()).rejects.toThrow(refusal);
    expect((await readFile(database)).equals(before)).toBe(true);
    expect(server.requests).toEqual([]);
  }
  const { code, stderr } = await runHere(["run", file, "--quiet"], { KNOWLEDGE_API_KEY: server.key });
  expect([code, stderr]).toEqual([2, `kbdump: ${refusal}\n`]);
});

test("a database that another program has open for writing does not count as broken", async () => {
  const { place, file, server, run, runsInDatabase } = await startPublishedPlace();
  await run();
  const instance = await DuckDBInstance.create(join(place, "test.duckdb"));
  const connection = await instance.connect();
  await connection.run("CREATE TABLE mine (a INTEGER)");
  const env = { KNOWLEDGE_API_KEY: server.key };
  expect(await runKbdump(["run", file, "--quiet"], env)).toMatchObject({ code: 0, stderr: "" });
  connection.closeSync();
  instance.closeSync();
  expect(await runsInDatabase()).toHaveLength(2);
});

test("the log that a killed writer left beside the database is not replayed on the new one", async () => {
  const { place, run } = await startPublishedPlace();
  await run();
  const database = join(place, "test.duckdb");
  const script = `
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(${JSON.stringify(database)})).connect();
    await connection.run("DELETE FROM chunks");
    process.kill(process.pid, "SIGKILL");`;
  spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  expect(await readdir(place)).toContain("test.duckdb.wal");
  await run();
  expect(await readdir(place)).not.toContain("test.duckdb.wal");
  expect(await query("SELECT count(*) FROM chunks", database)).toEqual([["10"]]);
});

test("an empty database stays in place until a run is published, so that a failed run does not hide it", async () => {
  const { place, file, server, run } = await startPublishedPlace();
  await run();
  const database = join(place, "test.duckdb");
  await truncate(database, 0);
  await expect(run({ env: { KNOWLEDGE_API_KEY: "dataset-wrong" } })).rejects.toThrow(StopError);
  expect((await stat(database)).size).toBe(0);
  const { code, stderr } = await runHere(["run", file, "--quiet"], { KNOWLEDGE_API_KEY: server.key });
  expect(code).toBe(3);
  expect(stderr).toContain(`${database} could not be read (`);
  expect(stderr).toContain(`the database that could not be read is kept as ${database}.aside\n`);
  expect((await stat(`${database}.aside`)).size).toBe(0);
});

test("a published run that cannot be loaded is reported as a loss; a named pipe in its folder does not block", async () => {
  const { place, file, server, run, runsInDatabase } = await startPublishedPlace();
  const { run_id } = (await run()).manifest;
  const [first, second] = ["20260101T000000000Z", "20260102T000000000Z"];
  for (const earlier of [first, second]) await copyRun(join(place, "runs"), run_id, earlier);
  const chunksOf = (runId: string) => join(place, "runs", runId, "chunks.jsonl");
  await rm(chunksOf(first));
  spawnSync("mkfifo", [chunksOf(first)]);
  await writeFile(chunksOf(second), "{}\n");
  await rm(join(place, "test.duckdb"));
  const { code, stdout, stderr } = await runHere(["run", file, "--quiet", "--json"], { KNOWLEDGE_API_KEY: server.key });
  const result = JSON.parse(stdout);
  expect(code).toBe(3);
  expect(result.problems).toEqual([
    `run ${first} could not be loaded: chunks.jsonl: is not a regular file`,
    expect.stringMatching(`run ${second} could not be loaded: chunks.jsonl: has 3 bytes instead of `),
  ]);
  for (const problem of result.problems) expect(stderr).toContain(`kbdump: published, but ${problem}`);
  expect(await runsInDatabase()).toEqual([run_id, result.run_id]);
});

/** Copies a run folder to another run id. */
async function copyRun(runs: string, from: string, to: string): Promise<void> {
  await cp(join(runs, from), join(runs, to), { recursive: true });
  const manifest = join(runs, to, "manifest.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replaceAll(from, to));
}
