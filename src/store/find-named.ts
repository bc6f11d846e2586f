import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf } from "../client/failed-request.js";
import { manifestName } from "../dump/manifest.js";
import { isRunId } from "../dump/run-id.js";
import { type Problem, UsageError } from "../errors.js";
import { ifAbsent, isAbsence, isThere } from "../files/files.js";
import { isJobName, type JobLocation, outputLocation } from "../job/job.js";
import { loadJobLocation } from "../job/load-job.js";
import { isBucketUrl, prefixFromUrl, urlOfPrefix } from "../job/s3-url.js";
import { openCopies } from "./bucket/copies.js";
import { fetchDatabaseOf, type JobCopy, type LocalCopyOptions, lookForJob, withBucket } from "./bucket/fetch-run.js";
import { headKey, readHead } from "./bucket/head.js";
import { type ShardRun, shardOfFolder } from "./folder/job-folders.js";

export interface FindOptions extends Partial<LocalCopyOptions> {
  /** The output folder, or `s3://bucket/prefix`, with the named jobs. It overrides the folder of a job file. Default: `output`. */
  readonly out?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Whether to fetch the database of the job, too, if the word names a run in a bucket. */
  readonly withDatabase?: boolean;
}

/** The thing that a word names: a run folder, a database or a job. */
type FoundThing =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "database"; readonly file: string }
  | FoundJob;

export interface FoundJob {
  readonly kind: "job";
  /** The folders of the job, or those of its local copy if it is in a bucket. `keep` is known only if the word names a job file. */
  readonly location: JobLocation;
  readonly file?: string | undefined;
  /** The id of a run, or its beginning, if the word has one: after an `@`, or as a run folder in a bucket. */
  readonly run?: string | undefined;
  /** The run folder in the bucket, if the word is one: `runs/<run_id>.<epoch>-<token>`. */
  readonly folder?: string | undefined;
  /** The job in the bucket, before its files are copied; undefined for a local job. */
  readonly copy?: JobCopy | undefined;
}

/** Finds the thing that a word names. If there is none, throws UsageError and suggests existing names. */
export async function findNamed(text: string, options: FindOptions): Promise<FoundThing> {
  const thing = await findLocally(text, options);
  if (thing.kind === "job" && thing.location.output.bucket !== undefined) {
    const { name, output } = thing.location;
    const copy = await copyFrom(`${output.bucket}/${name}`, options);
    const isListed = thing.folder === undefined || copy.head.runs.some(({ folder }) => folder === thing.folder);
    if (!isListed) throw unlisted(text, copy);
    return { ...thing, copy, location: { name, output: { ...output, dir: dirname(copy.folder) } } };
  }
  if (thing.kind !== "database" || !isBucketUrl(thing.file)) return thing;
  const file = await fetchDatabaseOf(await copyFrom(dirname(thing.file), options));
  if (file === undefined) throw noSuchThing(text, "the job has no database there");
  return { kind: "database", file };
}

/**
 * Like findNamed, but sends no request. First tries the word as a path: a run folder, a job folder, a job file (by its ending) or a
 * database. Then tries it as the name of a job. Other files and folders with that name do not matter.
 */
export async function findLocally(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) return thingInBucket(text);
  const { out = "output" } = options;
  const { before, run } = wordFrom(text);
  const whole = await lookAt(text);
  if (whole === "run") return { kind: "run folder", folder: text };
  if (whole === "database") return { kind: "database", file: text };
  if (whole === "job") return jobInFolder(text);
  if (whole === "job file") return jobOfFile(text, options);
  const found = run === undefined ? "nothing" : await lookAt(before);
  if (found === "job") return { ...jobInFolder(before), run };
  if (found === "job file") return { ...(await jobOfFile(before, options)), run };
  if (isJobName(before) && (isBucketUrl(out) || isJob(await lookAt(join(out, before)))))
    return { ...jobIn(out, before), run };
  if (whole === "begun") return jobInFolder(text);
  throw await nothingFound(text, whole, out);
}

/** Splits a word. `nightly@20261120` names a run of `nightly` by its id or the beginning of its id, at least the day. */
function wordFrom(text: string): { readonly before: string; readonly run: string | undefined } {
  const [, before = text, run] = /^(.+)@(\d{8}(?:T\d{0,9}Z?)?)$/.exec(text) ?? [];
  return { before, run };
}

function jobIn(dir: string, name: string): FoundJob {
  return { kind: "job", location: { name, output: { ...outputLocation(dir), keep: undefined } } };
}

function jobInFolder(path: string): FoundJob {
  const folder = resolve(path);
  return jobIn(basename(folder) === basename(path) ? dirname(path) : dirname(folder), basename(folder));
}

async function jobOfFile(file: string, { out, env }: FindOptions): Promise<FoundJob> {
  const { name, output } = await loadJobLocation(file, env);
  const location = { name, output: { ...output, ...(out === undefined ? {} : outputLocation(out)) } };
  return { kind: "job", location, file };
}

/**
 * The kind of thing at a path. job: a job folder with a published run. begun: a job folder without one. job file: recognized
 * by its ending. other: anything else that exists.
 */
export type Found = "run" | "job" | "begun" | "folder" | "job file" | "database" | "other" | "nothing";

/** Finds the kind of thing at a path. Follows links. */
export async function lookAt(path: string): Promise<Found> {
  const facts = await stat(path).catch((error: unknown) => {
    const isNoPath = isAbsence(error) || /^(ENAMETOOLONG|ELOOP)$/.test(codeOf(error)); // too long, or its links form a loop
    if (!isNoPath) throw error;
  });
  if (!facts) return "nothing";
  if (facts.isFile()) return lookAtFile(path);
  if (!facts.isDirectory()) return "other"; // opening a named pipe would block
  if (await isThere(join(path, manifestName))) return "run";
  for (const name of ["runs", "latest"]) if (await isThere(join(path, name))) return "job";
  for (const name of [".work", "shards"]) if (await isThere(join(path, name))) return "begun";
  return "folder";
}

async function lookAtFile(path: string): Promise<Found> {
  if (/\.(ya?ml|json)$/i.test(path)) return "job file";
  if (/\.(duckdb|db)$/i.test(path)) return "database";
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(12), 0, 12);
  return buffer.toString("latin1", 8) === "DUCK" ? "database" : "other"; // https://duckdb.org/docs/stable/internals/storage
}

/** Whether a path is a job folder, even if nothing is published yet. */
export function isJob(found: Found): boolean {
  return found === "job" || found === "begun";
}

/** The names of the jobs in an output folder, sorted; undefined if the folder does not exist. */
export async function jobsIn(dir: string): Promise<readonly string[] | undefined> {
  const names = await readdir(dir).catch(ifAbsent(undefined));
  if (!names) return undefined;
  const jobs: string[] = [];
  for (const name of names.sort()) if (isJob(await lookAt(join(dir, name)))) jobs.push(name);
  return jobs;
}

/** The names of the jobs at an address in a bucket, sorted. */
export function namesInBucket(url: string, options: FindOptions): Promise<readonly string[]> {
  return withBucket(url, copyOptions(options), async (bucket) => {
    const jobs: string[] = [];
    for await (const name of bucket.folders("")) if (await bucket.look(`${name}/${headKey}`)) jobs.push(name);
    return jobs;
  });
}

/** The shards of a job in a bucket that have a head. */
export function shardRunsInBucket(job: string, options: FindOptions): Promise<readonly ShardRun[]> {
  return withBucket(`${job}/shards`, copyOptions(options), async (bucket) => {
    const found: ShardRun[] = [];
    for await (const name of bucket.folders("")) {
      const shard = shardOfFolder(name);
      const read = shard && (await readHead(bucket, `${name}/${headKey}`));
      if (read) found.push({ ...shard, newest: read.head.runs.at(-1)?.run_id });
    }
    return found;
  });
}

/** Looks up a job in a bucket, `s3://bucket/prefix/<job>`. If there is no such job, throws UsageError that lists the existing jobs. */
export async function copyFrom(url: string, options: FindOptions): Promise<JobCopy> {
  const job = await lookForJob(url, copyOptions(options));
  if (job) return job;
  throw noSuchThing(url, `there is no ${headKey} in it; ${await insteadOf(url, options)}`);
}

/** The options for a copy, with defaults: no log, no progress, no cancellation, and copies that are not removed at the end. */
function copyOptions(options: FindOptions): LocalCopyOptions {
  const { signal } = new AbortController();
  return { copies: openCopies(options.env), signal, log: () => {}, watch: () => () => {}, ...options };
}

/**
 * The thing in a bucket that a word names: a job, optionally with `@` and a run, a run folder, or the database of a job. Throws
 * UsageError for anything else.
 */
function thingInBucket(text: string): FoundThing {
  const { before, run } = wordFrom(text.replace(/\/+$/, ""));
  const path = urlOfPrefix(prefixFromUrl(before));
  const [, jobOfRun, folder, runId = "", owner] =
    /^(.+)\/(runs\/(\d{8}T\d{9}Z)(\.\d{1,15}-[0-9a-f]{8})?)$/.exec(path) ?? [];
  if (jobOfRun !== undefined && run === undefined && isRunId(runId))
    return { ...jobAt(jobOfRun, text), run: runId, folder: owner && folder };
  const [, name] = /^s3:\/\/[^/]+\/(?:.+\/)?([^/]+)\/\1\.duckdb$/.exec(path) ?? [];
  if (name !== undefined && isJobName(name) && run === undefined) return { kind: "database", file: path };
  return { ...jobAt(path, text), run };
}

function jobAt(url: string, text: string): FoundJob {
  const name = basename(prefixFromUrl(url).prefix);
  if (isJobName(name)) return jobIn(dirname(url), name);
  throw noSuchThing(
    text,
    "expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it: s3://bucket/prefix/<job>@20261120",
  );
}

function noSuchThing(path: string, message: string): UsageError {
  return new UsageError("No such run or job:", [{ path: path === "" ? '""' : path, message }]);
}

/** The error for a word that names nothing. */
async function nothingFound(text: string, whole: Found, output: string): Promise<UsageError> {
  if (whole === "folder") return new UsageError("Not a finished run folder:", [await noManifest(text)]);
  if (whole === "other")
    return noSuchThing(
      text,
      "it is a file, but neither a job file nor a database; expected a run folder, or the name of a job",
    );
  if (isRunId(text)) return noSuchThing(text, `write the job before the id of the run, as in nightly@${text}`);
  const [, job] = /^([^@/]+)@\d{1,7}$/.exec(text) ?? [];
  if (job !== undefined && isJobName(job))
    return noSuchThing(text, `write at least the day of the run after the @, as in ${job}@20261120`);
  if (!isJobName(wordFrom(text).before)) return noSuchThing(text, "there is no such file or folder");
  const jobs = await jobsIn(output);
  const some = jobs?.length ? `jobs there: ${listText(jobs)}` : "no job has run there";
  const there = jobs ? some : `there is no folder ${output}`;
  return noSuchThing(
    text,
    `no file or folder has this name, and no job in ${output}; ${there}. --out names another output folder`,
  );
}

/** Explains that a folder has no manifest, and suggests the run that you probably meant. */
async function noManifest(path: string): Promise<Problem> {
  const jobs = (await jobsIn(path)) ?? [];
  for (const near of [path, ...jobs.map((name) => join(path, name)), dirname(path), dirname(dirname(path))]) {
    const latest = join(near, "latest");
    if (!(await isThere(latest)) || (await lookAt(latest)) !== "run") continue;
    const other = jobs.length > 0 ? `, or --out ${path}` : "";
    return { path, message: `no manifest.json in it. Did you mean ${latest}${other}?` };
  }
  return { path, message: "no manifest.json in it, which a run writes last" };
}

/** Suggests other names: shards that are not joined yet, the jobs below this address, or the jobs next to it. */
async function insteadOf(url: string, options: FindOptions): Promise<string> {
  const shards = await namesInBucket(`${url}/shards`, options);
  if (shards.length > 0) return `it has shards only; kbdump join ${url} makes a run of them`;
  const below = await namesInBucket(url, options);
  const above = dirname(url);
  const [location, jobs] = below.length > 0 ? [url, below] : [above, await namesInBucket(above, options)];
  return jobs.length > 0 ? `jobs in ${location}: ${listText(jobs)}` : `no job is in ${location}`;
}

/** The first names of a list, and the number of the others. */
function listText(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** The error for a folder in a bucket that the head does not list: its run was not finished, or was removed. */
function unlisted(text: string, { url, head }: JobCopy): UsageError {
  const ids = head.runs.map(({ run_id }) => run_id).reverse();
  const there = ids.length > 0 ? `the newest runs: ${ids.slice(0, 5).join(", ")}` : "it lists no run";
  const message = `the head.json of ${url} does not list it, so it is not a dump: its run was not finished, or was removed; ${there}`;
  return new UsageError("No such run:", [{ path: text, message }]);
}
