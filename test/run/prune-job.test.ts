import { rmSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BusyError, UsageError } from "../../src/errors.js";
import { planPrune, pruneJob } from "../../src/run/prune-job.js";
import { runJob } from "../../src/run/run-job.js";
import { foldersOf } from "../../src/store/folder/job-folders.js";
import { lockJob } from "../../src/store/folder/lock.js";
import { inFull } from "../rounds.js";
import { startRealisticServer } from "../servers/realistic-server.js";
import { makeDocument, Store } from "../servers/store.js";
import { makeRuns } from "../store/past-run.js";
import { jobFor, testFolder } from "./job-for.js";

const dataset = { id: "00000000-0000-4000-8000-000000000001", documents: ["00000000-0000-4000-8000-000000000002"] };
const [first, second, third] = ["20261118T020000000Z", "20261119T020000000Z", "20261120T020000000Z"] as const;

async function startPlace(keep: Record<string, number> | undefined = { last: 1 }) {
  const folder = await testFolder();
  const place = join(folder, "out", "test");
  const output = { formats: ["jsonl"], ...(keep ? { keep } : {}) };
  const job = await jobFor(folder, { service: { demo: true }, datasets: [dataset], output });
  const messages: string[] = [];
  const log = (_level: string, message: string) => messages.push(message);
  return { folder, place, runs: join(place, "runs"), job, messages, log };
}

test("removes what no rule keeps, after it says what and why", async () => {
  const { place, runs, job, messages, log } = await startPlace();
  await makeRuns(place, "test", { [first]: "complete", [second]: "partial", [third]: "complete" });
  const result = await pruneJob(job, { log });
  expect(await readdir(runs)).toEqual([third]);
  expect(messages).toEqual([
    `removing run ${second}: partial, and the later run ${third} is complete`,
    `removing run ${first}: no rule keeps it`,
  ]);
  expect(result.runs.map(({ runId, keep, bytes }) => [runId, keep, bytes])).toEqual([
    [third, true, 3],
    [second, false, 3],
    [first, false, 3],
  ]);
  expect(result.failures).toEqual([]);
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
  expect(await readdir(join(place, "latest"))).toContain("manifest.json");
});

test("entries that are not runs of this job are never touched", async () => {
  const { folder, place, runs, job } = await startPlace();
  await makeRuns(place, "test", { [first]: "complete", [third]: "complete" });
  const outside = join(folder, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "manifest.json"), await readFile(join(runs, first, "manifest.json")));
  await mkdir(join(runs, "my notes"));
  await mkdir(join(runs, "20261101T020000000Z")); // without a manifest
  await rename(join(runs, first), join(runs, `${first}.bak`));
  await symlink(outside, join(runs, "20261102T020000000Z"));
  await writeFile(join(runs, "20261103T020000000Z"), "a file");
  await makeRuns(join(folder, "other"), "other", { "20261104T020000000Z": "complete" });
  await rename(join(folder, "other", "runs", "20261104T020000000Z"), join(runs, "20261104T020000000Z"));
  await mkdir(join(runs, "20261105T020000000Z"));
  await writeFile(
    join(runs, "20261105T020000000Z", "manifest.json"),
    await readFile(join(runs, third, "manifest.json")),
  );
  await mkdir(join(runs, `${first}.restore`)); // left by kbdump restore
  await mkdir(join(runs, "20261106T020000000Z"));
  await writeFile(join(runs, "20261106T020000000Z", "manifest.json"), "{");
  await mkdir(join(runs, "20261107T020000000Z"));
  await symlink(join(runs, third, "manifest.json"), join(runs, "20261107T020000000Z", "manifest.json"));
  const before = await readdir(runs, { recursive: true });
  const { strangers } = await pruneJob(job);
  expect(await readdir(runs, { recursive: true })).toEqual(before);
  expect(Object.fromEntries(strangers.map(({ name, why }) => [name, why]))).toEqual({
    "20261101T020000000Z": "it has no manifest.json",
    "20261102T020000000Z": "it is a symbolic link",
    "20261103T020000000Z": "it is not a folder",
    "20261104T020000000Z": "it is a run of another job",
    "20261105T020000000Z": "its manifest.json belongs to another run",
    "20261106T020000000Z": "its manifest.json cannot be read",
    "20261107T020000000Z": "its manifest.json cannot be read",
    [`${first}.bak`]: "its name is not a run id",
    "my notes": "its name is not a run id",
  });
});

test("a dry run changes nothing, even while a run is in progress", async () => {
  const { place, runs, job } = await startPlace();
  await makeRuns(place, "test", { [first]: "complete", [third]: "complete" });
  await mkdir(join(place, ".work"));
  const lock = await lockJob(join(place, ".work"), new Date());
  onTestFinished(() => lock.release(join(place, ".work")));
  const before = await readdir(place, { recursive: true });
  const { runs: decided } = await pruneJob(job, { dryRun: true });
  expect(decided.map(({ keep }) => keep)).toEqual([true, false]);
  await expect(pruneJob(job)).rejects.toThrow(BusyError);
  expect(await readdir(place, { recursive: true })).toEqual(before);
  expect(await readdir(runs)).toHaveLength(2);
});

test("prune shows what to write in a job that keeps everything, and makes no folders for one that never ran", async () => {
  const { folder, job } = await startPlace();
  await expect(pruneJob({ ...job, output: { ...job.output, keep: undefined } })).rejects.toThrow(UsageError);
  expect((await pruneJob(job)).runs).toEqual([]);
  expect(await readdir(folder)).toEqual(["job.yaml"]);
});

test.each([
  ["a run that goes", join("runs", first), join("runs", third)],
  ["a run that is no more", join("runs", "20260101T000000000Z"), join("runs", third)],
  ["a run that stays", join("runs", third), join("runs", third)],
  ["a place of the user's own", "..", ".."],
])("latest that leads to %s does not dangle", async (_name, from, to) => {
  const { place, job } = await startPlace();
  await makeRuns(place, "test", { [first]: "complete", [third]: "complete" });
  await rm(join(place, "latest"));
  await symlink(from, join(place, "latest"));
  await pruneJob(job);
  expect(await readlink(join(place, "latest"))).toBe(to);
});

test("a latest that a user pointed to a removed partial run is deleted if there is no complete run", async () => {
  const { place, job } = await startPlace();
  await makeRuns(place, "test", { [first]: "partial", [third]: "partial" });
  await symlink(join("runs", first), join(place, "latest"));
  await pruneJob(job);
  expect((await readdir(place)).sort()).toEqual([".work", "runs"]);
});

test.runIf(inFull)(
  "runs that a killed process had moved away are deleted by the next prune, and by the next run",
  async () => {
    const { place, job } = await startPlace();
    await makeRuns(place, "test", { [third]: "complete" });
    const token = "0d3c1f1e-0000-4000-8000-000000000001"; // the folder of the killed process
    const removed = join(place, ".work", token, "removed", first);
    await mkdir(removed, { recursive: true });
    const left = async () => (await readdir(join(place, ".work"))).filter((name) => name !== "fenced");
    await pruneJob(job);
    expect(await left()).toEqual(["indexing_status"]);
    await mkdir(removed, { recursive: true });
    await expect(runJob({ ...job, output: { ...job.output, keep: undefined } }, { env: {} })).rejects.toThrow();
    expect(await left()).toEqual(["indexing_status"]);
  },
);

test("work that was set aside goes when it is older than a run may be to be continued", async () => {
  const { place, job, messages, log } = await startPlace();
  await makeRuns(place, "test", { [third]: "complete" });
  const aside = join(place, ".work", "set-aside");
  await mkdir(aside, { recursive: true });
  const now = new Date("2026-11-20T12:00:00Z");
  await utimes(aside, now, new Date("2026-11-18T12:00:00Z"));
  expect((await pruneJob(job, { log, now: () => now })).setAside).toBe(false);
  await utimes(aside, now, new Date("2026-11-18T11:59:00Z"));
  expect((await pruneJob(job, { log, now: () => now })).setAside).toBe(true);
  expect(messages).toEqual(["removing the work that was set aside: too old to be continued"]);
  expect(await readdir(join(place, ".work"))).toEqual(["indexing_status"]);
});

/** A job for a small server; its runs last long enough to get different ids. */
async function startJob(keep: Record<string, number>) {
  const store = new Store();
  const dataset = store.addDataset(makeDocument({ chunks: 3 }));
  const server = await startRealisticServer(store);
  onTestFinished(() => server.close());
  const folder = await testFolder();
  const job = await jobFor(folder, {
    service: { base_url: server.url },
    datasets: [{ id: dataset.id, documents: [...dataset.documents.keys()] }],
    output: { formats: ["jsonl"], keep },
  });
  const messages: string[] = [];
  const run = (now: string, onMessage: (message: string) => void = () => {}) =>
    runJob(job, {
      env: { KNOWLEDGE_API_KEY: server.key },
      log: (level, message) => {
        messages.push(`${level}: ${message}`);
        onMessage(message);
      },
      now: () => new Date(now),
    });
  return { place: join(folder, "out", "test"), run, messages };
}

test.runIf(inFull)("a run applies the rules when it is published", async () => {
  const { place, run, messages } = await startJob({ last: 2 });
  for (const day of ["18", "19"]) expect((await run(`2026-11-${day}T02:00:00Z`)).pruned).toEqual([]);
  expect((await run("2026-11-20T02:00:00Z")).pruned).toEqual([first]);
  expect((await readdir(join(place, "runs"))).sort()).toEqual([second, third]);
  expect(messages).toEqual([`info: removing run ${first}: no rule keeps it`]);
});

test("the run that was just published stays, even if there are newer ones beside it", async () => {
  const { place, job } = await startPlace();
  await makeRuns(place, "test", { [first]: "complete", [second]: "complete", [third]: "complete" });
  const { runs } = await planPrune(job, { last: 1 }, foldersOf(job), new Date(), second);
  expect(runs.map(({ keep, reasons }) => [keep, ...reasons])).toEqual([
    [true, "newest complete run", "last 1: number 1"],
    [true, "published just now"],
    [false, "no rule keeps it"],
  ]);
});

test.runIf(inFull)(
  "a run that cannot be removed is a warning; the others are removed, and the run is published",
  async () => {
    const { place, run, messages } = await startJob({ last: 1 });
    await run("2026-11-17T02:00:00Z");
    await rename(join(place, "runs", "20261117T020000000Z"), join(place, "kept"));
    await run("2026-11-18T02:00:00Z");
    await rename(join(place, "kept"), join(place, "runs", "20261117T020000000Z"));
    const { manifest, pruned } = await run("2026-11-19T02:00:00Z", (message) => {
      if (message.startsWith(`removing run ${first}`)) rmSync(join(place, "runs", first), { recursive: true });
    });
    expect([manifest.status, pruned]).toEqual(["complete", ["20261117T020000000Z"]]);
    expect(messages.filter((message) => message.startsWith("warn"))).toEqual([
      expect.stringMatching(`^warn: run ${first} could not be removed: ENOENT`),
    ]);
    expect(await readdir(join(place, "runs"))).toEqual([second]);
  },
);
