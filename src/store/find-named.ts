import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { manifestName } from "../dump/manifest.js";
import { isRunId } from "../dump/run-id.js";
import { type Problem, UsageError } from "../errors.js";
import { ifAbsent, isAbsence, isThere } from "../files/files.js";
import { isJobName, type JobLocation, outputLocation } from "../job/job.js";
import { loadJobLocation } from "../job/load-job.js";
import { isBucketUrl, prefixFromUrl, urlOfPrefix } from "../job/s3-url.js";
import { headKey, readHead } from "./bucket/head.js";
import { openCopies } from "./copy/copies.js";
import { type CopyOptions, copyDatabase, type JobCopy, lookForJob, withBucket } from "./copy/copy-run.js";
import { type ShardRun, shardOfFolder } from "./folder/job-folders.js";

export interface FindOptions extends Partial<CopyOptions> {
  /** The output folder, or `s3://bucket/prefix`, that names of jobs are looked for in; it also overrides that of a job file. Default: `output`. */
  readonly out?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Whether to fetch the database of the job with a run in a bucket. */
  readonly withDatabase?: boolean;
}

/** The meaning of a word, with its job file read and its folders named. */
type FoundThing =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "database"; readonly file: string }
  | FoundJob;

export interface FoundJob {
  readonly kind: "job";
  /** Of a job in a bucket, the location of its copy. `keep` is known only if a job file was named. */
  readonly location: JobLocation;
  readonly file?: string | undefined;
  /** The id of the run that was named with the job, or its beginning. */
  readonly run?: string | undefined;
  /** Only of a job in a bucket: no file of it is copied yet. */
  readonly copy?: JobCopy | undefined;
}

/** Finds what a word stands for. Throws UsageError, with what there is instead, if there is no such thing. */
export async function findNamed(text: string, options: FindOptions): Promise<FoundThing> {
  const thing = await findLocally(text, options);
  if (thing.kind === "job" && thing.location.output.bucket !== undefined) {
    const { name, output } = thing.location;
    const copy = await copyFrom(`${output.bucket}/${name}`, options);
    const { folder } = isBucketUrl(text) ? bucketWordFrom(text) : {};
    if (folder !== undefined && !copy.head.runs.some((listed) => listed.folder === folder)) throw unlisted(text, copy);
    return { ...thing, copy, location: { name, output: { ...output, dir: dirname(copy.folder) } } };
  }
  if (thing.kind !== "database" || !isBucketUrl(text)) return thing;
  const file = await copyDatabase(await copyFrom(bucketWordFrom(text).url, options));
  if (file === undefined) throw noSuchThing(text, "the job has no database there");
  return { kind: "database", file };
}

/**
 * The same, but no bucket is asked. A path comes first: the folder of a run, the folder of a job, a job file (by its ending), a
 * database. The name of a job comes second. Any other file or folder hides no name.
 */
export async function findLocally(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) {
    const { url, run, isDatabase } = bucketWordFrom(text);
    return isDatabase ? { kind: "database", file: text } : { ...jobIn(dirname(url), basename(url)), run };
  }
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

/** Takes a word apart: `nightly@20261120` names a run of `nightly`, by its id or the beginning of it, from the day on. */
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
 * The kinds of things at a path: the folder of a run, the folder of a job, one of a job that has published nothing yet, another folder, a
 * job file (by its ending), a database, something else, or nothing.
 */
export type Found = "run" | "job" | "begun" | "folder" | "job file" | "database" | "other" | "nothing";

/** Looks at what lies at a path; follows links. */
export async function lookAt(path: string): Promise<Found> {
  const facts = await stat(path).catch((error: unknown) => {
    if (isAbsence(error) || isNoPath(error)) return undefined;
    throw error;
  });
  if (!facts) return "nothing";
  if (facts.isFile()) return lookAtFile(path);
  if (!facts.isDirectory()) return "other"; // opening a pipe would wait
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

/** Whether an error says that no path can look like this, or that a link leads to itself. */
function isNoPath(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENAMETOOLONG" || error.code === "ELOOP");
}

/** Whether a job has run at a place, even if it has published nothing yet. */
export function isJob(found: Found): boolean {
  return found === "job" || found === "begun";
}

/** The names of the jobs in an output folder, in order; undefined if there is no such folder. */
export async function jobsIn(dir: string): Promise<readonly string[] | undefined> {
  const names = await readdir(dir).catch(ifAbsent(undefined));
  if (!names) return undefined;
  const jobs: string[] = [];
  for (const name of names.sort()) if (isJob(await lookAt(join(dir, name)))) jobs.push(name);
  return jobs;
}

/** The names of the jobs at a place in a bucket, in order. */
export function namesInBucket(url: string, options: FindOptions): Promise<readonly string[]> {
  return withBucket(url, copyOptions(options), async (bucket) => {
    const jobs: string[] = [];
    for await (const name of bucket.folders("")) if (await bucket.look(`${name}/${headKey}`)) jobs.push(name);
    return jobs;
  });
}

/** The shards that have a head below that of a job in a bucket, each with the address of its newest run. */
export function shardRunsInBucket(job: string, options: FindOptions): Promise<readonly ShardRun[]> {
  const url = `${job}/shards`;
  return withBucket(url, copyOptions(options), async (bucket) => {
    const found: ShardRun[] = [];
    for await (const name of bucket.folders("")) {
      const shard = shardOfFolder(name);
      const read = shard && (await readHead(bucket, `${name}/${headKey}`));
      const newest = read?.head.runs.at(-1);
      if (read) found.push({ ...shard, newest: newest && `${url}/${name}/runs/${newest.run_id}` });
    }
    return found;
  });
}

/** Looks up a job in a bucket, `s3://bucket/prefix/<job>`. Throws UsageError, with the jobs that are there, if there is no such job. */
export async function copyFrom(url: string, options: FindOptions): Promise<JobCopy> {
  const job = await lookForJob(url, copyOptions(options));
  if (job) return job;
  throw noSuchThing(url, `there is no ${headKey} in it; ${await insteadOf(url, options)}`);
}

/** By default, nothing is shown, nothing ends the work, and copies stay until this process has ended. */
function copyOptions({ env, copies, signal, log, watch }: FindOptions): CopyOptions {
  return {
    env,
    copies: copies ?? openCopies(env),
    signal: signal ?? new AbortController().signal,
    log: log ?? (() => {}),
    watch: watch ?? (() => () => {}),
  };
}

/** The parts of a word that begins with `s3://`. */
interface BucketWord {
  /** The place of the job: `s3://bucket/prefix/<job>`. */
  readonly url: string;
  /** The id of a run of it, or its beginning. */
  readonly run?: string | undefined;
  /** The folder of the run, if the word names it: `runs/<run_id>.<epoch>-<token>`. */
  readonly folder?: string;
  /** The word names the database of the job. */
  readonly isDatabase?: true;
}

const runPath = /^(.+)\/(runs\/(\d{8}T\d{9}Z)(?:\.\d{1,15}-[0-9a-f]{8})?)$/;

/**
 * Takes a word apart that names something in a bucket: a job, a run of it behind an `@`, the folder of a run, or the database of a job.
 * Throws UsageError for anything else.
 */
export function bucketWordFrom(text: string): BucketWord {
  const { before, run } = wordFrom(text.replace(/\/+$/, ""));
  const path = urlOfPrefix(prefixFromUrl(before));
  const [, jobOfRun, folder = "", runId = ""] = runPath.exec(path) ?? [];
  if (jobOfRun !== undefined && run === undefined && isRunId(runId))
    return { url: jobUrl(jobOfRun, text), run: runId, ...(folder.includes(".") ? { folder } : {}) };
  const [, jobOfDatabase, name] = /^(.+)\/([^/]+)\.duckdb$/.exec(path) ?? [];
  if (jobOfDatabase?.endsWith(`/${name}`) && run === undefined)
    return { url: jobUrl(jobOfDatabase, text), isDatabase: true };
  return { url: jobUrl(path, text), run };
}

function jobUrl(url: string, text: string): string {
  const { prefix } = prefixFromUrl(url);
  if (isJobName(basename(prefix))) return url;
  throw noSuchThing(
    text,
    "expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it: s3://bucket/prefix/<job>@20261120",
  );
}

function noSuchThing(path: string, message: string): UsageError {
  return new UsageError("No such run or job:", [{ path: path === "" ? '""' : path, message }]);
}

/** The error of a word that stands for nothing. */
async function nothingFound(text: string, whole: Found, output: string): Promise<UsageError> {
  if (whole === "folder") return new UsageError("Not a finished run folder:", [await noManifest(text)]);
  if (whole === "other")
    return noSuchThing(
      text,
      "it is a file, but no job file and no database; expected a run folder, or the name of a job",
    );
  if (isRunId(text)) return noSuchThing(text, `write the job before the id of the run, as in nightly@${text}`);
  if (!isJobName(wordFrom(text).before)) return noSuchThing(text, "there is no such file or folder");
  const jobs = await jobsIn(output);
  const some = jobs?.length ? `jobs there: ${listText(jobs)}` : "no job has run there";
  const there = jobs ? some : `there is no folder ${output}`;
  return noSuchThing(
    text,
    `no file or folder has this name, and no job in ${output}; ${there}. --out names another output folder`,
  );
}

/** The problem of a folder without a manifest; it names the run that was probably meant. */
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

/** The shards that were not joined yet, the jobs below a place that is their prefix, or the jobs beside the place. */
async function insteadOf(url: string, options: FindOptions): Promise<string> {
  const shards = await namesInBucket(`${url}/shards`, options);
  if (shards.length > 0) return `it has shards only; kbdump join ${url} makes a run of them`;
  const below = await namesInBucket(url, options);
  const above = dirname(url);
  const [location, jobs] = below.length > 0 ? [url, below] : [above, await namesInBucket(above, options)];
  return jobs.length > 0 ? `jobs in ${location}: ${listText(jobs)}` : `no job is in ${location}`;
}

/** The first names of a list. */
function listText(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

/** The error of a folder that is in the bucket, or was, but is no dump: its run was never finished, or is removed. */
function unlisted(text: string, { url, head }: JobCopy): UsageError {
  const ids = head.runs.map(({ run_id }) => run_id).reverse();
  const there = ids.length > 0 ? `the newest runs: ${ids.slice(0, 5).join(", ")}` : "it lists no run";
  const message = `the head.json of ${url} does not list it, so it is no dump: its run was not finished, or was removed; ${there}`;
  return new UsageError("No such run:", [{ path: text, message }]);
}
