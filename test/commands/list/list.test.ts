import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runIdFrom } from "../../../src/dump/run-id.js";
import { lockJob } from "../../../src/store/folder/lock.js";
import { runHere } from "../../cli/run-here.js";
import { manifestOf } from "../../dump/manifest-of.js";
import { jobFile, testFolder } from "../../run/job-for.js";
import { makeRuns } from "../../store/past-run.js";

const hour = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * hour - 60_000);

/** Makes a run that ended `hours` ago, with counts. */
async function makeRun(place: string, hours: number, status: "complete" | "partial"): Promise<string> {
  const runId = runIdFrom(hoursAgo(hours + 1));
  await makeRuns(place, "test", { [runId]: status });
  const [started_at, finished_at] = [hoursAgo(hours + 1).toISOString(), hoursAgo(hours).toISOString()];
  const counts = { chunks: 5027, child_chunks: 2948, documents: 13, indexing_status: 0, metadata_fields: 0 };
  const files = [{ path: "chunks.jsonl", rows: 5027, bytes: 15_900_000, sha256: "0".repeat(64) }];
  const manifest = manifestOf({ run_id: runId, status, started_at, finished_at, counts, files });
  await writeFile(join(place, "runs", runId, "manifest.json"), JSON.stringify(manifest));
  return runId;
}

async function startPlace() {
  const folder = await testFolder();
  const dir = join(folder, "out");
  const place = join(dir, "test");
  const old = await makeRun(place, 30, "complete");
  const failed = await makeRun(place, 5, "partial");
  const file = await jobFile(folder, { output: { keep: { last: 1 } } });
  return { folder, dir, place, old, failed, file };
}

test("the runs of a job file, newest first, with the rules that keep them, and other entries", async () => {
  const { place, old, failed, file } = await startPlace();
  await mkdir(join(place, "runs", "20260101T000000000Z"));
  await mkdir(join(place, ".work"));
  const lock = await lockJob(join(place, ".work"), new Date());
  const { code, stdout, stderr } = await runHere(["list", file]);
  expect([code, stderr]).toEqual([0, ""]);
  const since = lock.owner.since;
  expect(stdout.split("\n")).toEqual([
    "run                   age  status    documents  chunks  children     size       took  keep",
    `${failed}   5 h  partial          13   5,027     2,948  15.9 MB  1 h 0 min  last`,
    `${old}  30 h  complete         13   5,027     2,948  15.9 MB  1 h 0 min  last  latest`,
    "",
    "ignored  20260101T000000000Z: it has no manifest.json",
    `a run is active: process ${process.pid} on ${lock.owner.host} since ${since}`,
    `2 runs in ${place}, 31.8 MB`,
    "",
  ]);
  await lock.release(place);
  expect((await runHere(["list", file])).stdout).not.toContain("active");
});

test("a name and a folder list the same, but for the rules, which only the job file has", async () => {
  const { dir, place, old } = await startPlace();
  const named = await runHere(["list", "test", "--out", dir]);
  expect(named.stdout.split("\n")[0]).toMatch(/ took$/);
  expect(named.stdout.split("\n")[2]).toMatch(new RegExp(`^${old} .*  latest$`));
  expect((await runHere(["list", place])).stdout).toBe(named.stdout);
});

test("without a job: the newest run of every job", async () => {
  const { dir, failed } = await startPlace();
  await mkdir(join(dir, "weekly", ".work"), { recursive: true });
  await mkdir(join(dir, "no-job"));
  const { stdout } = await runHere(["list", "--out", dir]);
  expect(stdout.split("\n").slice(0, 4)).toEqual([
    "job     newest run           age  status   documents  chunks  children     size       took  runs",
    `test    ${failed}  5 h  partial         13   5,027     2,948  15.9 MB  1 h 0 min     2`,
    "weekly  none                                                                                   0",
    "",
  ]);
  expect(stdout.split("\n").slice(4).join(" ").replace(/\s+/g, " ")).toBe(
    "Without a published run: weekly. If its runs failed or were stopped, run the job again to see why. ",
  );
  const { jobs, status } = JSON.parse((await runHere(["list", "--out", dir, "--json"])).stdout);
  expect([status, jobs.map(({ job }: { job: string }) => job)]).toEqual(["ok", ["test", "weekly"]]);
});

test("--max-age: 1 and one line for each job without a complete run that is young enough", async () => {
  const { dir, old } = await startPlace();
  await mkdir(join(dir, "weekly", ".work"), { recursive: true });
  expect((await runHere(["list", "test", "--out", dir, "--max-age", "31h"])).code).toBe(0);
  const stale = await runHere(["list", "test", "--out", dir, "--max-age", "26h", "--quiet"]);
  const reason = `the newest complete run of test, ${old}, is 1 d 6 h old`;
  expect([stale.code, stale.stderr]).toEqual([1, `kbdump: ${reason}; --max-age is 26h\n`]);
  const all = await runHere(["list", "--out", dir, "--max-age", "2d", "--json"]);
  expect([all.code, all.stderr]).toEqual([1, "kbdump: weekly has no complete run; --max-age is 2d\n"]);
  expect(JSON.parse(all.stdout).status).toBe("stale");
  const wrong = await runHere(["list", "--max-age", "soon"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--max-age: got "soon", expected')]);
});

test("--json has everything, with units in the names", async () => {
  const { place, old, failed, file } = await startPlace();
  const { status, jobs } = JSON.parse((await runHere(["list", file, "--json"])).stdout);
  const [{ runs, ...rest }] = jobs;
  expect([status, jobs.length]).toEqual(["ok", 1]);
  expect(rest).toEqual({
    job: "test",
    folder: place,
    newest_complete: { run_id: old, age_seconds: expect.any(Number) },
    at_work: null,
    ignored: [],
    shards: [],
  });
  expect(runs).toMatchObject([
    { run_id: failed, status: "partial", latest: false, kept_by: ["last"] },
    { run_id: old },
  ]);
  expect(runs[1]).toEqual({
    run_id: old,
    folder: join(place, "runs", old),
    status: "complete",
    latest: true,
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    finished_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    age_seconds: expect.any(Number),
    seconds: expect.closeTo(3600, 1),
    documents: 13,
    chunks: 5027,
    child_chunks: 2948,
    bytes: 15_900_000,
    kept_by: ["newest", "last"],
  });
});

test("a job without runs is not an error; a folder that is not a job is", async () => {
  const { folder, dir, place, failed } = await startPlace();
  const file = await jobFile(folder, { name: "new" });
  expect(await runHere(["list", file])).toMatchObject({
    code: 0,
    stdout: `no run was published in ${join(dir, "new")} yet\n`,
  });
  await mkdir(join(folder, "empty"));
  const none = await runHere(["list", "--out", join(folder, "empty")]);
  expect([none.code, none.stdout]).toEqual([0, `no job has run in ${join(folder, "empty")} yet\n`]);
  for (const [args, message] of [
    [["absent", "--out", dir], `absent: no file or folder has this name, and no job in ${dir}; jobs there: test`],
    [["--out", join(folder, "gone")], `${join(folder, "gone")}: there is no such folder`],
    [[join(place, "runs", failed)], "expected a job: its name, its folder or its job file"],
  ] as const) {
    const { code, stderr } = await runHere(["list", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

test("the shards of a job, below its runs and in the JSON result", async () => {
  const { dir, place, file } = await startPlace();
  const made = (shard: string) => makeRun(join(place, "shards", shard), 2, "complete");
  const runIds = [await made("1-of-3"), await made("3-of-3")];
  await mkdir(join(place, "shards", "1-of-2", ".work"), { recursive: true });
  await mkdir(join(place, "shards", "no-shard"));
  const newest = runIds.sort().at(-1);
  expect((await runHere(["list", file])).stdout.split("\n").slice(-4)).toEqual([
    `2 runs in ${place}, 31.8 MB`,
    "2 shards, 0 with a run; without one: 1, 2",
    `3 shards, 2 with a run, the newest ${newest}; without one: 2`,
    "",
  ]);
  const { jobs } = JSON.parse((await runHere(["list", "test", "--out", dir, "--json"])).stdout);
  expect(jobs[0].shards).toEqual([
    { count: 2, with_run: 0, missing: [1, 2], newest_run_id: null },
    { count: 3, with_run: 2, missing: [2], newest_run_id: newest },
  ]);
});
