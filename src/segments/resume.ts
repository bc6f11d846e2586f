import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { GenericSchema } from "valibot";
import * as v from "valibot";
import { readRunFacts } from "../dump/read-manifest.js";
import { isRunId, newRunId } from "../dump/run-id.js";
import { isThere, readJsonFile, readSharedJson, writeJsonFile } from "../files/files.js";
import { type Job, serviceName } from "../job/job.js";
import type { Log } from "../log.js";
import { object, text, valueIf } from "../schema.js";
import { isToken } from "../store/folder/fence.js";
import { removeFrom } from "../store/folder/folder-store.js";
import type { JobFolders } from "../store/folder/job-folders.js";
import type { LeasedJob } from "../store/lease.js";
import { tool } from "../tool.js";
import { requestFile } from "./request-sum.js";

export interface EarlierOptions {
  readonly now: () => Date;
  readonly log: Log;
  /** Whether to start over, even if an earlier run left work. */
  readonly fresh: boolean;
  /** Whether to continue a published run in which documents failed. */
  readonly retryFailed: boolean;
  /** The hash of the given list of documents; undefined if the run asks the service. */
  readonly list?: string | undefined;
}

/** Work that can be continued. */
interface EarlierWork {
  readonly runId: string;
  readonly startedAt: Date;
}

/** Writes plan.json: what the run reads, and when it started. */
export async function writePlan(
  work: string,
  job: Job,
  { startedAt, list }: { readonly startedAt: Date; readonly list: string | undefined },
): Promise<void> {
  await writeJsonFile(join(work, "plan.json"), { plan: planHash(job, list), started_at: startedAt.toISOString() });
}

/** Whether a work folder has a plan. A run writes it before its first request. */
export async function hasPlan(work: string): Promise<boolean> {
  return isThere(join(work, "plan.json"));
}

/** The content of plan.json. */
const factsSchema = object({
  plan: text,
  started_at: v.pipe(
    text,
    v.transform((time) => new Date(time)),
    v.date(),
  ),
});

/** Finds the work to continue. Sets other work aside and logs that. */
export async function earlierWork(
  leased: LeasedJob,
  job: Job,
  options: EarlierOptions,
): Promise<EarlierWork | undefined> {
  let found: EarlierWork | undefined;
  for (const name of (await readdir(leased.own)).filter(isRunId).sort()) {
    const runId = await reconcilePublished(leased, name, job, options);
    if (runId === undefined) continue;
    const facts = valueIf(factsSchema, await readJsonFile(join(leased.own, runId, "plan.json")));
    const why = reasonAgainst(facts, job, options) ?? (await reasonOfNewer(leased, runId));
    if (why === undefined && facts) found = { runId, startedAt: facts.started_at };
    else if (!facts && (await isEmpty(join(leased.own, runId, "segments"))))
      await rm(join(leased.own, runId), { recursive: true, force: true }); // that run ended before it read anything
    else await setAside(leased, runId, `the work of run ${runId} is not continued: ${why}`, options);
  }
  if (found) options.log("info", `continuing the run that began at ${found.startedAt.toISOString()}`);
  else if (options.retryFailed)
    options.log("warn", "no earlier run left failed documents to continue from: this one starts over");
  return found;
}

/** Looks for work that the next run will continue, in the folders of all owners. Changes nothing. */
export async function findEarlierWork(
  folders: JobFolders,
  job: Job,
  now: () => Date,
): Promise<EarlierWork | undefined> {
  let found: EarlierWork | undefined;
  for (const path of await workIn(folders.private)) {
    const runId = basename(path);
    if (await readRunFacts(join(folders.runs, runId))) continue;
    const facts = valueIf(factsSchema, await readSharedJson(join(path, "plan.json")));
    if (facts && reasonAgainst(facts, job, { now, fresh: false }) === undefined) {
      found = { runId, startedAt: facts.started_at };
    }
  }
  return found;
}

/** The work of every run below `.work`, in the order of run ids. */
async function workIn(folder: string): Promise<readonly string[]> {
  const holders = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  const found: string[] = [];
  for (const owner of holders.filter((entry) => entry.isDirectory() && isToken(entry.name))) {
    const names = await readdir(join(folder, owner.name)).catch((): string[] => []);
    found.push(...names.filter(isRunId).map((name) => join(folder, owner.name, name)));
  }
  return found.sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
}

/**
 * Removes the work of a published run and returns undefined. With `retryFailed`, keeps the work of a partial run under a new run
 * id, and returns that id. Returns `runId` for unpublished work.
 */
async function reconcilePublished(
  leased: LeasedJob,
  runId: string,
  job: Job,
  { now, retryFailed, list }: EarlierOptions,
): Promise<string | undefined> {
  const work = join(leased.own, runId);
  if (!(await isThere(join(leased.runs, runId)))) return runId;
  const { status } = (await readRunFacts(join(leased.runs, runId))) ?? {};
  if (status === undefined) return renamed(leased, runId, now()); // its place in `runs` is taken by something that is not a run
  const samePlan = valueIf(factsSchema, await readJsonFile(join(work, "plan.json")))?.plan === planHash(job, list);
  if (status === "partial" && retryFailed && samePlan) {
    await forgetOnceRead(work);
    await rm(join(work, requestFile), { force: true });
    return renamed(leased, runId, now());
  }
  await removeFrom(leased, work);
  return undefined;
}

/** Renames work to a new run id. It keeps its start time, so it may already be too old to continue. */
async function renamed(leased: LeasedJob, runId: string, now: Date): Promise<string> {
  const newId = await newRunId(leased.runs, now);
  await rename(join(leased.own, runId), join(leased.own, newId));
  return newId;
}

function reasonAgainst(
  facts: v.InferOutput<typeof factsSchema> | undefined,
  job: Job,
  { now, fresh, list }: Pick<EarlierOptions, "now" | "fresh" | "list">,
): string | undefined {
  if (fresh) return "a fresh start was asked for";
  if (facts?.plan !== planHash(job, list)) return "the job has changed since";
  const age = now().getTime() - facts.started_at.getTime();
  return age > job.resumeWithin * 3_600_000 ? `it is older than ${job.resumeWithin} h` : undefined;
}

/**
 * Why to give up work if another machine has published a newer run of the job meanwhile: the work has older data. Undefined if
 * there is no newer run.
 */
async function reasonOfNewer({ runs, remote }: LeasedJob, runId: string): Promise<string | undefined> {
  const newest = remote && (await readdir(runs)).filter(isRunId).sort().at(-1);
  return newest !== undefined && newest > runId ? `run ${newest} was published since` : undefined;
}

/** Moves work aside, in case you need it. It is kept until the next work is set aside. Sets the time of its folder to now. */
async function setAside(
  leased: LeasedJob,
  runId: string,
  message: string,
  { log, now }: EarlierOptions,
): Promise<void> {
  const aside = join(leased.private, "set-aside");
  await removeFrom(leased, aside);
  await rename(join(leased.own, runId), aside);
  await utimes(aside, now(), now());
  log("info", `${message}; it lies in ${aside}`);
}

async function isEmpty(folder: string): Promise<boolean> {
  return (await readdir(folder).catch((): string[] => [])).length === 0;
}

const files = {
  discovery: "discovery.json",
  status: "status-before.json",
  fields: "metadata-fields.json",
  details: "details.json",
} as const;

/** Something that a run reads once: see `readOnce`. */
interface OnceRead<T> {
  /** The schema of the answer that an earlier process stored. The plan of the work folder guarantees that it fits the job. */
  readonly schema: GenericSchema<unknown, T>;
  readonly read: () => Promise<T>;
  /** Whether to store this answer for a resumed run. If not, the resumed run asks again. */
  readonly isWhole: (answer: T) => boolean;
}

/**
 * Reads something once per run, and stores the answer for a resumed run. An answer too long for a string, such as a list of about
 * 500,000 documents, is not stored, and a resumed run asks again.
 */
export async function readOnce<T>(
  work: string,
  what: keyof typeof files,
  { schema, read, isWhole }: OnceRead<T>,
): Promise<T> {
  const path = join(work, files[what]);
  const earlier = valueIf(schema, await readJsonFile(path));
  if (earlier !== undefined) return earlier;
  const answer = await read();
  if (isWhole(answer)) await writeJsonFile(path, answer).catch(unlessTooLong);
  return answer;
}

/** For `catch`: ignores the RangeError that V8 throws for a string that is too long; rethrows any other error. */
function unlessTooLong(error: unknown): void {
  if (!(error instanceof RangeError)) throw error;
}

/** Removes all stored answers, so that the run asks again. */
async function forgetOnceRead(work: string): Promise<void> {
  for (const file of Object.values(files)) await rm(join(work, file), { force: true });
}

/** The version of the work folder's format. Raise it when the format changes, so that older work is not continued. */
const workFormat = 4;

/**
 * A hash of all settings that decide which rows are read and how they are written. A run can continue work with the same hash.
 * Speed, key, loaded formats and shard are not part of it. `list`: the hash of the given list of documents, if any.
 */
export function planHash({ service, datasets, childChunks, consistency, output }: Job, list?: string): string {
  const plan = {
    version: tool.version,
    work: workFormat,
    service: serviceName(service),
    list,
    datasets,
    childChunks,
    consistency,
    keepSignatures: output.keepSignatures,
    csv: output.formats.includes("csv") && { safe: output.csvSafe },
  };
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex");
}

const fileIn = (work: string) => join(work, "handed-out");

/** Marks the work folder of a run whose documents are read by workers. After that, results may exist outside of the folder. */
export async function noteDistributed(work: string): Promise<void> {
  await writeFile(fileIn(work), "", { mode: 0o600 });
}

/** Whether a run has distributed documents to workers. */
export async function isDistributed(work: string): Promise<boolean> {
  return isThere(fileIn(work));
}
