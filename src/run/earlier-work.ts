import { readdir, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { discoveryFile } from "./discovery.js";
import type { JobFolders } from "./job-folders.js";
import { readJsonFile, writeJsonFile } from "./json-file.js";
import { pointLatest } from "./latest.js";
import { planHash } from "./plan-hash.js";
import { forgetOnceRead } from "./read-once.js";
import { requestFile } from "./request-sum.js";
import { isRunId, newRunId } from "./run-id.js";
import type { Log } from "./run-options.js";

export interface EarlierOptions {
  readonly now: () => Date;
  readonly log: Log;
  /** Begin anew, whatever an earlier run left. */
  readonly fresh: boolean;
  /** Go on from a run that was published although documents failed. */
  readonly retryFailed: boolean;
}

/** Work that can be continued. */
export interface EarlierWork {
  readonly runId: string;
  readonly startedAt: Date;
}

/** Says in the work folder what is being read, and since when. */
export async function writePlan(work: string, job: Job, startedAt: Date): Promise<void> {
  await writeJsonFile(join(work, "plan.json"), { plan: planHash(job), started_at: startedAt.toISOString() });
}

/** The work that can be continued; any other is set aside, and said to be. */
export async function earlierWork(
  folders: JobFolders,
  job: Job,
  options: EarlierOptions,
): Promise<EarlierWork | undefined> {
  let found: EarlierWork | undefined;
  for (const name of (await readdir(folders.private)).filter(isRunId).sort()) {
    const runId = await settlePublished(folders, name, job, options);
    if (runId === undefined) continue;
    const facts = factsFrom(await readJsonFile(join(folders.private, runId, "plan.json")));
    const why = reasonAgainst(facts, job, options);
    if (why === undefined && facts) found = { runId, startedAt: facts.startedAt };
    else await setAside(folders, runId, `the work of run ${runId} is not continued: ${why}`, options);
  }
  if (found) options.log("info", `continuing the run that began at ${found.startedAt.toISOString()}`);
  else if (options.retryFailed) options.log("warn", "there is no run with failed documents to go on from: all is read");
  return found;
}

/** Looks for work that the next run will continue, and changes nothing. */
export async function findEarlierWork(
  folders: JobFolders,
  job: Job,
  now: () => Date,
): Promise<EarlierWork | undefined> {
  const names = await readdir(folders.private).catch(() => []);
  const runIds = names.filter(isRunId).sort();
  let found: EarlierWork | undefined;
  for (const runId of runIds) {
    if (await readJsonFile(join(folders.runs, runId, "manifest.json"))) continue;
    const facts = factsFrom(await readJsonFile(join(folders.private, runId, "plan.json")));
    if (facts && reasonAgainst(facts, job, { now, fresh: false }) === undefined) {
      found = { runId, startedAt: facts.startedAt };
    }
  }
  return found;
}

/**
 * Ends the work of a run that was published: gives undefined, or, where its failed documents are to be read again, the id of
 * the new run that the work now is for. Work that was not published stays as it is.
 */
async function settlePublished(
  folders: JobFolders,
  runId: string,
  job: Job,
  { now, retryFailed }: EarlierOptions,
): Promise<string | undefined> {
  const work = join(folders.private, runId);
  const manifest = await readJsonFile(join(folders.runs, runId, "manifest.json"));
  if (typeof manifest !== "object" || manifest === null || !("status" in manifest)) return runId;
  const samePlan = factsFrom(await readJsonFile(join(work, "plan.json")))?.plan === planHash(job);
  if (manifest.status === "partial" && retryFailed && samePlan) {
    const newId = await newRunId(folders.runs, now()); // its start stays that of the work, which may be too old by now
    await forgetOnceRead(work);
    for (const file of [discoveryFile, requestFile]) await rm(join(work, file), { force: true });
    await rename(work, join(folders.private, newId));
    return newId;
  }
  if (manifest.status === "complete") await pointLatest(folders, runId);
  await rm(work, { recursive: true, force: true });
  return undefined;
}

function reasonAgainst(
  facts: Facts | undefined,
  job: Job,
  { now, fresh }: Pick<EarlierOptions, "now" | "fresh">,
): string | undefined {
  if (fresh) return "a fresh start was asked for";
  if (facts?.plan !== planHash(job)) return "the job has changed since";
  const age = now().getTime() - facts.startedAt.getTime();
  return age > job.resumeWithin * 3_600_000 ? `it is older than ${job.resumeWithin} h` : undefined;
}

/** The last work that was set aside is kept, in case somebody wants it; its time says since when. */
async function setAside(
  folders: JobFolders,
  runId: string,
  message: string,
  { log, now }: EarlierOptions,
): Promise<void> {
  const aside = join(folders.private, "set-aside");
  await rm(aside, { recursive: true, force: true });
  await rename(join(folders.private, runId), aside);
  await utimes(aside, now(), now());
  log("info", `${message}; it lies in ${aside}`);
}

interface Facts {
  readonly plan: string;
  readonly startedAt: Date;
}

function factsFrom(value: unknown): Facts | undefined {
  if (typeof value !== "object" || value === null || !("plan" in value) || !("started_at" in value)) return undefined;
  const startedAt = new Date(String(value.started_at));
  return Number.isNaN(startedAt.getTime()) ? undefined : { plan: String(value.plan), startedAt };
}
