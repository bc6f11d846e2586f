import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { StopError } from "../../../src/errors.js";
import { loadRuns, runsAfter } from "../../../src/run/database/load-runs.js";
import { runHere } from "../../cli/run-here.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { query } from "../../database/query.js";
import { startPublishedPlace } from "./published-place.js";

/** Damages a block of rows: the file can be opened as a database, but not read to its end. */
async function damageRows(path: string): Promise<void> {
  const sound = await readFile(path);
  const blocks = await query("SELECT DISTINCT block_id FROM pragma_storage_info('chunks') WHERE block_id >= 0", path);
  for (const [block] of blocks) {
    const at = 12_288 + Number(block) * 262_144;
    const damaged = Buffer.from(sound);
    damaged.fill(7, at + 8, at + 4096);
    await writeFile(path, damaged);
    const isReadable = await query("SELECT max(run_id) FROM runs", path).then(
      () => true,
      () => false,
    );
    if (isReadable) return;
  }
  throw new Error("no block holds rows of chunks alone");
}

const damages: readonly ((path: string) => Promise<void>)[] = [
  async (path) => truncate(path, Math.floor((await stat(path)).size / 2)),
  async (path) => truncate(path, 0),
  damageRows,
];

test("a database that is cut, empty or damaged in its rows costs no file: it is moved aside and built anew, and the run says what is lost", async () => {
  const { place, run, documents, runsInDatabase, warnings } = await startPublishedPlace();
  const database = join(place, "test.duckdb");
  const runs = [(await run()).manifest.run_id];
  for (const [at, damage] of damages.entries()) {
    await damage(database);
    const damaged = await readFile(database);
    documents[1]?.chunks.pop();
    const result = await run();
    const aside = `${database}.aside${at === 0 ? "" : `-${at + 1}`}`;
    const rebuilt = `so it is built anew from ${runs.length} run ${at === 0 ? "folder" : "folders"}. Everything else is lost: `;
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
});

test.each(["jsonl", "parquet", "csv"])(
  "a database that is gone comes back from run folders of %s, exactly",
  async (format) => {
    const { place, run, documents } = await startPublishedPlace([format, "duckdb"]);
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
    const database = join(place, "test.duckdb");
    const content = async () => {
      const tables: (readonly (readonly unknown[])[])[] = [];
      for (const table of ["chunks", "child_chunks", "documents", "runs", "chunk_changes"])
        tables.push(await query(`FROM ${table} ORDER BY ALL`, database));
      return tables;
    };
    const before = await content();
    await rm(database);
    const { manifest, status } = await run();
    expect(status).toBe("complete");
    const after = await content();
    const [last] = [manifest.run_id];
    const without = (rows: readonly (readonly unknown[])[]) => rows.filter((row) => !row.includes(last));
    expect(without(after[3] ?? [])).toEqual(before[3]);
    expect(after[4]).toEqual(before[4]);
    const rows = (tables: readonly (readonly (readonly unknown[])[])[]) =>
      tables.slice(0, 2).map((table) => table.map((row) => row.slice(0, -1)));
    expect(rows(after)).toEqual(rows(before));
  },
);

test("a database that is not of kbdump is never replaced: exit 2 before anything is asked", async () => {
  const { place, file, server, run } = await startPublishedPlace();
  await run();
  const database = join(place, "test.duckdb");
  const refusal = `${database} has no tables of kbdump, so it is not the database of this job and is not replaced. Move it away, or give the job another name`;
  for (const sql of ["CREATE TABLE mine (a INTEGER)", "SELECT 1"]) {
    await rm(database);
    const instance = await DuckDBInstance.create(database);
    await (await instance.connect()).run(sql);
    instance.closeSync();
    const before = await readFile(database);
    server.reset();
    await expect(run()).rejects.toThrow(refusal);
    expect((await readFile(database)).equals(before)).toBe(true);
    expect(server.requests).toEqual([]);
  }
  const { code, stderr } = await runHere(["run", file, "--quiet"], { KNOWLEDGE_API_KEY: server.key });
  expect([code, stderr]).toEqual([2, `kbdump: ${refusal}\n`]);
});

test("somebody who has the database open for writing is no reason to take it for a broken one", async () => {
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

test("a broken database stays where it is until a run is published, so that no failed run makes anybody forget it", async () => {
  const { place, file, server, run } = await startPublishedPlace();
  await run();
  const database = join(place, "test.duckdb");
  await truncate(database, 5_000);
  await expect(run({ env: { KNOWLEDGE_API_KEY: "dataset-wrong" } })).rejects.toThrow(StopError);
  expect((await stat(database)).size).toBe(5_000);
  const { code, stderr } = await runHere(["run", file, "--quiet"], { KNOWLEDGE_API_KEY: server.key });
  expect(code).toBe(3);
  expect(stderr).toContain("could not be read");
  expect((await stat(`${database}.aside`)).size).toBe(5_000);
});

test("a published run that cannot be loaded is a loss that the run tells; a named pipe in its folder is no wait", async () => {
  const { place, file, server, run, runsInDatabase } = await startPublishedPlace();
  const [first, second, third] = [await run(), await run(), await run()];
  const chunksOf = (runId: string) => join(place, "runs", runId, "chunks.jsonl");
  await rm(chunksOf(first.manifest.run_id));
  spawnSync("mkfifo", [chunksOf(first.manifest.run_id)]);
  await writeFile(chunksOf(second.manifest.run_id), "{}\n");
  await rm(join(place, "test.duckdb"));
  const args = ["run", file, "--quiet", "--json"];
  const { code, stdout, stderr } = await runKbdump(args, { KNOWLEDGE_API_KEY: server.key });
  const result = JSON.parse(stdout);
  expect(code).toBe(3);
  expect(result.problems).toEqual([
    `run ${first.manifest.run_id} could not be loaded: chunks.jsonl: is no regular file`,
    expect.stringMatching(`run ${second.manifest.run_id} could not be loaded: chunks.jsonl: has 3 bytes instead of `),
  ]);
  for (const problem of result.problems) expect(stderr).toContain(`kbdump: published, but ${problem}`);
  expect(await runsInDatabase()).toEqual([third.manifest.run_id, result.run_id]);
});

test("loading many runs takes the room of one database more, not of one for each", async () => {
  const { place, job, run } = await startPublishedPlace();
  for (let count = 0; count < 2; count++) await run();
  const scratch = join(place, "loading");
  await mkdir(scratch);
  const runs = await runsAfter(null, join(place, "runs"), job.name);
  const options = { memory: "500MB", temporary: join(scratch, "spill") };
  expect(await loadRuns(runs, undefined, scratch, options)).toMatchObject({ loaded: 2, failures: [] });
  expect(await readdir(scratch)).toEqual([`${runs.at(-1)?.manifest.run_id}.duckdb`]);
});
