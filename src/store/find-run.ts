import { readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { readRunFacts } from "../dump/read-manifest.js";
import { UsageError } from "../errors.js";
import { ifAbsent, isThere } from "../files/files.js";
import { fetchDatabaseOf, fetchRunOf, type JobCopy } from "./bucket/fetch-run.js";
import type { BucketRun } from "./bucket/head.js";
import { type FindOptions, type FoundJob, findNamed, lookAt } from "./find-named.js";
import { foldersOf, newestComplete, runIdsIn, shardOfFolder } from "./folder/job-folders.js";

/**
 * Finds the run that a word names, and returns its folder. The word is a run folder, or a job: its name, folder or job file. A
 * job stands for its newest complete run, or for the run after an `@`. A run in a bucket is fetched, and the folder of the
 * copy returned. Throws UsageError if there is no such run.
 */
export async function findRun(word: string, options: FindOptions): Promise<string> {
  return fetched(await findRunToFetch(word, options), options);
}

/** A run that was found: its folder. For a run in a bucket: the folder for its copy, and the run to copy. */
export interface RunToFetch {
  readonly folder: string;
  readonly inBucket?: { readonly copy: JobCopy; readonly run: BucketRun } | undefined;
}

/** Like findRun, but does not fetch the files of a run in a bucket. */
export async function findRunToFetch(word: string, options: FindOptions): Promise<RunToFetch> {
  const thing = await findNamed(word, options);
  if (thing.kind === "run folder") return thing;
  if (thing.kind === "job") return meant(thing, word);
  const message = "it is a file; expected the folder of a run, a job file, or the name of a job";
  throw new UsageError("Not a finished run folder:", [{ path: word, message }]);
}

/** Copies the files of a run in a bucket, and its job's database with `withDatabase`. Returns the run folder. */
async function fetched({ folder, inBucket }: RunToFetch, { withDatabase = false }: FindOptions): Promise<string> {
  if (inBucket) await fetchRunOf(inBucket.copy, inBucket.run);
  if (inBucket && withDatabase) await fetchDatabaseOf(inBucket.copy);
  return folder;
}

/** Finds the run that a word names, and the complete run of the same job before it. Throws UsageError if there are not two. */
export async function findRunAndOneBefore(
  word: string,
  options: FindOptions,
): Promise<readonly [before: string, run: string]> {
  const thing = await findNamed(word, options);
  if (thing.kind !== "job")
    throw noRun(word, "it is one run; name a second one, or a job whose two newest runs to compare");
  const run = await meant(thing, word);
  const before = await newestCompleteOf(thing, basename(run.folder));
  if (before) return [await fetched(before, options), await fetched(run, options)];
  throw await nothingBefore(thing, word, basename(run.folder));
}

/**
 * Finds the older run of a comparison. Like findRun, but a job stands for its newest complete run before `run`. Throws
 * UsageError if there is none, or if it is `run` itself.
 */
export async function findRunBefore(word: string, run: string, options: FindOptions): Promise<string> {
  const thing = await findNamed(word, options);
  if (thing.kind === "job" && thing.run === undefined) {
    const { run_id } = (await readRunFacts(await realpath(run))) ?? {};
    const before = await newestCompleteOf(thing, run_id);
    if (before) return fetched(before, options);
    throw await nothingBefore(thing, word, run_id ?? run);
  }
  const found = await findRun(word, options);
  if ((await realpath(found)) !== (await realpath(run))) return found;
  throw noRun(word, "it is the run itself; name an older one");
}

/** The error if a job has no complete run before this one. */
async function nothingBefore(job: FoundJob, word: string, runId: string): Promise<UsageError> {
  const newest = await newestCompleteOf(job);
  const isOnly = newest !== undefined && basename(newest.folder) === runId;
  const message = isOnly
    ? `it has only one complete run, ${runId}; after one more kbdump run, there are two to compare`
    : `no complete run before ${runId}; name a newer one`;
  return new UsageError("There is no older run to compare with:", [{ path: word, message }]);
}

/** The run of a job that a word means: the one after the `@`, or else the newest complete one. Throws UsageError if there is none. */
async function meant(job: FoundJob, word: string): Promise<RunToFetch> {
  if (job.run !== undefined) return named(job, job.run, word);
  const found = await newestCompleteOf(job);
  if (found) return found;
  const latest = join(foldersOf(job.location).folder, "latest");
  if (!job.copy && (await lookAt(latest)) === "run") return { folder: latest }; // a copy without `runs`
  const path = `${shownRuns(job)}/${basename((await newestRun(job, word)).folder)}`;
  throw noRun(word, `no complete run, so there is no latest. The newest run is partial or cannot be read: ${path}`);
}

/** The run with this id, or the only run whose id starts with it. */
async function named(job: FoundJob, beginning: string, word: string): Promise<RunToFetch> {
  const ids = await idsOf(job);
  const found = ids.filter((id) => id.startsWith(beginning));
  const [only] = found;
  if (only !== undefined && found.length === 1) return toFetch(job, only);
  const sample = (found.length > 0 ? found : ids).slice(0, 5).join(", ");
  if (only !== undefined) throw noRun(word, `${found.length} runs begin with ${beginning}: ${sample}`);
  const there = sample === "" ? "" : `; the newest there: ${sample}`;
  throw noRun(word, `no run ${beginning} in ${shownRuns(job)}${there}`);
}

/** The newest run of a job, complete or not. Throws UsageError if there is none. */
export async function newestRun(job: FoundJob, word: string): Promise<RunToFetch> {
  const [id] = await idsOf(job);
  if (id === undefined) throw noRun(word, `no run was published in ${shownRuns(job)} yet`);
  return toFetch(job, id);
}

/** The newest complete run, older than `before` if given. */
async function newestCompleteOf(job: FoundJob, before?: string): Promise<RunToFetch | undefined> {
  const { copy, location } = job;
  const isWanted = ({ run_id, status }: BucketRun) => status === "complete" && !(before && run_id >= before);
  const id = copy ? copy.head.runs.findLast(isWanted)?.run_id : await newestComplete(foldersOf(location), { before });
  return id === undefined ? undefined : toFetch(job, id);
}

/** The ids of the runs of a job, newest first. */
async function idsOf({ location, copy }: FoundJob): Promise<readonly string[]> {
  return copy ? copy.head.runs.map(({ run_id }) => run_id).reverse() : runIdsIn(foldersOf(location).runs);
}

function toFetch({ location, copy }: FoundJob, id: string): RunToFetch {
  const run = copy?.head.runs.find(({ run_id }) => run_id === id);
  return { folder: join(foldersOf(location).runs, id), inBucket: copy && run && { copy, run } };
}

/** The folder or bucket of the job's runs, as shown in messages. */
function shownRuns({ location, copy }: FoundJob): string {
  return copy ? `${copy.url}/runs` : foldersOf(location).runs;
}

function noRun(word: string, message: string): UsageError {
  return new UsageError("No such run:", [{ path: word, message }]);
}

/** Finds the data to query with SQL: the database of a job, a database file, or a run folder. Throws UsageError if there is none. */
export async function findDatabase(
  word: string,
  options: FindOptions,
): Promise<{ readonly database: string } | { readonly folder: string }> {
  const found = await findNamed(word, options);
  if (found.kind === "database") return { database: found.file };
  if (found.kind === "run folder") return { folder: found.folder };
  if (found.run !== undefined) return { folder: await fetched(await meant(found, word), options) };
  const { copy, location } = found;
  const { folder, database } = foldersOf(location);
  const isFound = copy ? (await fetchDatabaseOf(copy)) !== undefined : await isThere(database);
  if (isFound) return { database };
  const names = (await readdir(folder).catch(ifAbsent<string[]>([]))).filter((name) => name.endsWith(".duckdb"));
  const [copied, ...others] = names;
  if (!copy && copied !== undefined && others.length === 0) return { database: join(folder, copied) }; // a copy of a job's folder
  const expected = copy ? `${copy.url}/${location.name}.duckdb` : database;
  const what = copy ? "run" : "run folder";
  const message = shardOfFolder(location.name)
    ? "it is a shard, which has no database. Name a run folder of it, or join the shards and name the job"
    : `there is no ${expected}. Put duckdb into output.formats and run the job, or name a ${what}`;
  throw new UsageError("The job has no database:", [{ path: word, message }]);
}
