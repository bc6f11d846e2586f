// An owner of a job in its own process: node owner.mjs <job file> <run>. It takes the lease and publishes one toy run, whose rows
// are the text <run>. It prints a JSON line before and after each step. With a third argument, it waits for a line on stdin before
// each step.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { isRunId, newRunId } from "../../../dist/dump/run-id.js";
import { loadJob } from "../../../dist/job/load-job.js";
import { leaseJob } from "../../../dist/store/lease.js";

const [file, rows, isGated] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

let explain = async (error) => error;
async function step(name, work) {
  say({ before: name });
  if (isGated) await lines.next();
  try {
    const value = await work();
    say({ done: name });
    return value;
  } catch (error) {
    const reason = await explain(error);
    say({ failed: name, error: reason.constructor.name, message: reason.message });
    throw error;
  }
}

/** Writes a staged run: rows, and a manifest with their SHA-256. */
async function stageRun(stage, run_id) {
  for (const path of [dirname(stage), stage]) await mkdir(path); // an owner never recreates the parent folder
  await writeFile(join(stage, "chunks.jsonl"), rows);
  const sha256 = createHash("sha256").update(rows).digest("hex");
  const files = [{ path: "chunks.jsonl", kind: "chunks", format: "jsonl", rows: 1, bytes: rows.length, sha256 }];
  const manifest = { run_id, status: "complete", files };
  await writeFile(join(stage, "manifest.json"), JSON.stringify(manifest));
  return manifest;
}

const job = await loadJob({ file }, {}, {});
const options = { now: () => new Date(), log: () => {}, env: process.env, signal: new AbortController().signal };
const lease = await step("lease", () => leaseJob(job, options)).catch(() => process.exit(1));
explain = lease.explain;
const { store, own, runs, database } = lease;
try {
  const runId = await newRunId(runs, new Date());
  say({ runId });
  const stage = join(own, runId, "stage");
  const manifest = await step("stage", () => stageRun(stage, runId));
  await step("fetch", () => store.fetchDatabase());
  const listed = (await readFile(database, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const built = join(own, runId, "new.duckdb");
  await step("build", () => writeFile(built, [...listed, runId].join("\n")));
  await step("upload", () => store.upload(manifest, stage, options.signal));
  await step("commit", () => store.commit(manifest, stage));
  // As in a real run, the steps after the commit may fail.
  await step("follow", () => store.follow(manifest, stage)).catch(() => {});
  await step("database", () => store.replaceDatabase(built, false)).catch(() => {});
  await step("latest", () => store.pointLatest(runId)).catch(() => {});
  const [oldest = "", ...others] = (await readdir(runs)).sort();
  if (others.length > 2) await step("remove", () => store.removeRun(oldest)).catch(() => {});
  // Removes the rest of this run, the work of killed owners, and pruned runs.
  for (const name of await readdir(own))
    if (name === "removed" || isRunId(name)) await rm(join(own, name), { recursive: true, force: true });
} catch {
  process.exitCode = 1;
} finally {
  await step("release", () => lease[Symbol.asyncDispose]()).catch(() => {});
  process.stdin.destroy();
}
