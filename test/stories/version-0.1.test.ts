import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runHere } from "../cli/run-here.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { query } from "../database/query.js";
import { oldRuns, unpackVersion01 } from "../fixtures/unpack.js";
import { jobFile, testFolder } from "../run/job-for.js";
import { served } from "../serve/redump.js";

const withBatch = "be707760-4d1d-4f33-b3ad-f9bace31e975";
const other = "363de3fa-c033-4479-aa89-3e7cf01dccd5";
let folder: string;
let place: string;
const runFolder = (name: keyof typeof oldRuns) => join(place, "runs", oldRuns[name]);

beforeEach(async () => {
  folder = await testFolder();
  place = join(folder, "out", "small");
  await unpackVersion01(place);
});

interface ServeOptions {
  readonly output?: Readonly<Record<string, unknown>>;
  readonly batches?: readonly string[];
}

/** Serves the last dump of 0.1; gives a job file that reads it into the same folder, and the variable with its key. */
async function serveOld({ output = {}, batches = [] }: ServeOptions = {}) {
  const { url, key } = await served(runFolder("last"));
  const file = await jobFile(folder, {
    name: "small",
    service: { base_url: url, api_key_env: "SMALL_KEY" },
    output: { formats: ["jsonl", "duckdb"], ...output },
    datasets: [
      { id: withBatch, documents: "all", batches },
      { id: other, documents: "all" },
    ],
  });
  return { file, env: { SMALL_KEY: key } };
}

test.each(["first", "last"] as const)("verify finds the %s dump of 0.1 sound", async (run) => {
  const { code, stdout } = await runHere(["verify", runFolder(run), "--duckdb", "--json"]);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { status: "sound", checked: { documents: 4 } }]);
});

test("diff compares two dumps of 0.1 across a re-index", async () => {
  const { code, stdout } = await runHere(["diff", runFolder("first"), runFolder("last"), "--json"]);
  const { counts } = JSON.parse(stdout);
  expect(code).toBe(4);
  expect(counts.documents).toMatchObject({ different: 1, reindexed: 1, same: 3 });
});

/** Times of the file that 0.1 wrote, and of the tables that have taken them over, as Unix seconds. */
const timesOfTables = (table: string) =>
  `SELECT typeof(created_at), count(*)::INTEGER, sum(epoch(created_at))::BIGINT::VARCHAR FROM ${table} GROUP BY ALL`;

async function timesOf01(): Promise<readonly unknown[]> {
  const chunks = (await readFile(join(runFolder("last"), "chunks.jsonl"), "utf8")).trim().split("\n");
  const times = chunks.map((line) => Date.parse(JSON.parse(line).created_at) / 1000);
  return ["TIMESTAMP WITH TIME ZONE", times.length, String(times.reduce((sum, time) => sum + time, 0))];
}

test("run adds to the database and the history of 0.1, and finds what serve gives it unchanged", async () => {
  const { file, env } = await serveOld();
  const { code, stdout } = await runHere(["run", file, "--json", "--quiet"], env);
  const result = JSON.parse(stdout);
  expect([code, result.status]).toEqual([0, "complete"]);
  const same = await runHere(["diff", runFolder("last"), join(place, "latest"), "--json"]);
  expect(same.code).toBe(0);
  const [found] = await query(
    `SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM chunks) AS chunks,
      (SELECT count(*) FROM chunks_at('${oldRuns.first}')) AS before,
      (SELECT count(*) FROM chunk_changes WHERE run_id > '${oldRuns.last}') AS changes`,
    join(place, "small.duckdb"),
  );
  expect(found).toEqual(["4", "105", "105", "0"]);
  expect(await query(timesOfTables("chunks"), join(place, "small.duckdb"))).toEqual([await timesOf01()]);
});

test("serve answers from the dump of 0.1", async () => {
  const child = startKbdump(["serve", runFolder("last"), "--key-env", "SMALL_KEY", "--json"], { SMALL_KEY: "key" });
  const end = finished(child);
  const [line] = child.stdout ? await once(child.stdout, "data") : [];
  const { base_url } = JSON.parse(String(line));
  const answer = await fetch(`${base_url}/datasets/${withBatch}/documents`, {
    headers: { authorization: "Bearer key" },
  });
  child.kill();
  expect(await answer.json()).toMatchObject({ total: 2 });
  expect(await end).toMatchObject({ code: 0 });
});

test("status, plan and prune work on the folder of 0.1", async () => {
  const { file, env } = await serveOld({ batches: ["20250306120000123456"], output: { keep: { last: 1 } } });
  const status = await runHere(["status", file, "--json"], env);
  expect([status.code, JSON.parse(status.stdout).rows.length]).toEqual([0, 4]);
  expect(await query(timesOfTables("chunks"), join(place, "small.duckdb"))).toEqual([await timesOf01()]);
  const plan = await runHere(["plan", file, "--json"], env);
  expect([plan.code, plan.stderr]).toEqual([0, ""]);
  const pruned = await runHere(["prune", file, "--json", "--quiet"], env);
  expect([pruned.code, JSON.parse(pruned.stdout).removed.length]).toEqual([0, 1]);
  expect(await readdir(join(place, "runs"))).toEqual([oldRuns.last]);
});

test("on a machine outside of UTC, a run adds to what 0.1 left and verify finds both sound", async () => {
  const { file, env } = await serveOld({ output: { formats: ["jsonl", "csv", "parquet", "duckdb"] } });
  const elsewhere = { ...env, TZ: "America/St_Johns" };
  expect((await runKbdump(["run", file, "--quiet"], elsewhere)).code).toBe(0);
  expect(await query(timesOfTables("chunks"), join(place, "small.duckdb"))).toEqual([await timesOf01()]);
  for (const run of [runFolder("last"), join(place, "latest")]) {
    const { stdout } = await runKbdump(["verify", run, "--duckdb", "--json"], elsewhere);
    expect(JSON.parse(stdout)).toMatchObject({ status: "sound" });
  }
});

test("a database of 0.1 that lacks a run is completed from its folder", async () => {
  const { file, env } = await serveOld({ output: { formats: ["duckdb"] } });
  await rm(join(place, "small.duckdb"));
  const { code } = await runHere(["run", file, "--quiet"], env);
  expect(code).toBe(0);
  const rows = await query("SELECT run_id FROM runs ORDER BY run_id LIMIT 2", join(place, "small.duckdb"));
  expect(rows.flat()).toEqual([oldRuns.first, oldRuns.last]);
});
