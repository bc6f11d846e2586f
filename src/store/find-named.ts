import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { manifestName } from "../dump/manifest.js";
import { isRunId } from "../dump/run-id.js";
import { type Problem, UsageError } from "../errors.js";
import { isAbsence, isThere } from "../files/files.js";
import { isJobName, type JobLocation } from "../job/job.js";
import { loadJobLocation, outputLocation } from "../job/load-job.js";
import { isBucketUrl, prefixFromUrl, urlOfPrefix } from "../job/s3-url.js";
import { copyDatabase } from "./copy/copy-database.js";
import { jobsInBucket, lookUpJob } from "./copy/copy-run.js";
import type { CopyOptions, JobCopy } from "./copy/job-copy.js";

/** Finds what a word stands for. UsageError, with what there is instead, where it is none of all this. */
export async function findNamed(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) return findInBucket(text, options);
  const thing = await findLocally(text, options);
  return thing.kind === "job" ? withCopy(thing, options) : thing;
}

/** The same, but no bucket is asked: a job there may have shards, and nothing else yet. */
export async function findLocally(text: string, options: FindOptions): Promise<FoundThing> {
  if (isBucketUrl(text)) return locationInBucket(text);
  const { out } = options;
  const word = wordFrom(text);
  const output = out ?? "output";
  const sights = {
    whole: await lookAt(text),
    before: word.run === undefined ? ("nothing" as const) : await lookAt(word.before),
    job: isJobName(word.before) ? await lookForJob(output, word.before) : ("nothing" as const),
  };
  const meaning = meaningOf(word, sights);
  if (meaning.kind === "unknown") throw await nothingFound(word, sights.whole, output);
  return thingFrom(meaning, options);
}

/** A bucket is asked later, where the name means nothing else. */
async function lookForJob(output: string, name: string): Promise<Found> {
  return isBucketUrl(output) ? "job" : lookAt(join(output, name));
}

async function thingFrom(meaning: Exclude<Meaning, { kind: "unknown" }>, options: FindOptions): Promise<FoundThing> {
  const { out, env } = options;
  if (meaning.kind === "run folder" || meaning.kind === "database") return meaning;
  const run = meaning.run === undefined ? {} : { run: meaning.run };
  if (meaning.kind === "job") return { kind: "job", location: locationAt(out ?? "output", meaning.name), ...run };
  if (meaning.kind === "job folder") {
    const folder = resolve(meaning.folder);
    const parent = basename(folder) === basename(meaning.folder) ? dirname(meaning.folder) : dirname(folder);
    return { kind: "job", location: locationAt(parent, basename(folder)), ...run };
  }
  const location = await loadJobLocation(meaning.file, env);
  const output = out === undefined ? location.output : { ...location.output, ...outputLocation(out) };
  return { kind: "job", location: { ...location, output }, file: meaning.file, ...run };
}

/** The job with its copy, where it is kept in a bucket. */
async function withCopy(job: FoundJob, options: FindOptions): Promise<FoundJob> {
  const { name, output } = job.location;
  if (output.bucket === undefined) return job;
  const copy = await copyFrom(`${output.bucket}/${name}`, options);
  return { ...job, copy, location: { name, output: { ...output, dir: dirname(copy.folder) } } };
}

function locationAt(dir: string, name: string): JobLocation {
  return { name, output: { ...outputLocation(dir), keep: undefined } };
}

/** The error of a word that stands for nothing. */
async function nothingFound({ text, before }: Word, whole: Found, output: string): Promise<UsageError> {
  if (whole === "folder") return new UsageError("Not a finished run folder:", [await noManifest(text)]);
  if (whole === "other") {
    const message = "it is a file, but no job file and no database; expected a run folder, or the name of a job";
    return new UsageError("No such run or job:", [{ path: text, message }]);
  }
  if (!isJobName(before)) {
    const path = text === "" ? '""' : text;
    return new UsageError("No such run or job:", [{ path, message: "there is no such file or folder" }]);
  }
  const jobs = await jobsIn(output);
  const there =
    jobs === undefined
      ? `there is no folder ${output}`
      : jobs.length > 0
        ? `jobs there: ${listText(jobs)}`
        : "no job has run there";
  const message = `no file or folder has this name, and no job in ${output}; ${there}. --out names another output folder`;
  return new UsageError("No such run or job:", [{ path: text, message }]);
}

/** The problem of a folder without a manifest; it names the run that was probably meant. */
async function noManifest(folder: string): Promise<Problem> {
  const jobs = (await jobsIn(folder)) ?? [];
  const near = [folder, ...jobs.map((name) => join(folder, name)), dirname(folder), dirname(dirname(folder))];
  for (const location of near) {
    const latest = join(location, "latest");
    if ((await isThere(latest)) && (await lookAt(latest)) === "run")
      return {
        path: folder,
        message: `no manifest.json in it. Did you mean ${latest}${jobs.length > 0 ? `, or --out ${folder}` : ""}?`,
      };
  }
  return { path: folder, message: "no manifest.json in it, which a run writes last" };
}

/** The first names of a list. */
function listText(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

export interface FindOptions extends Partial<CopyOptions> {
  /** The output folder, or `s3://bucket/prefix`, that names of jobs are looked for in; it also wins over that of a job file. Default: `output`. */
  readonly out?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** With a run of a job in a bucket, the database of the job is fetched, too. */
  readonly withDatabase?: boolean;
}

/** The meaning of a word, with its job file read and its folders named. */
type FoundThing =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "database"; readonly file: string }
  /** `keep` is known of a job that was named by its file; `run` is the run that was named with it. */
  | FoundJob;

export interface FoundJob {
  readonly kind: "job";
  /** The place of the copy, where the job is in a bucket. */
  readonly location: JobLocation;
  readonly file?: string;
  readonly run?: string;
  /** Only of a job in a bucket: its manifests are copied, and no other file yet. */
  readonly copy?: JobCopy;
}

/**
 * The kinds of things at a path: the folder of a run, the folder of a job, one of a job that has published nothing yet, another folder, a
 * job file (by its ending), a database, something else, or nothing.
 */
export type Found = "run" | "job" | "begun" | "folder" | "job file" | "database" | "other" | "nothing";

/** The meaning of a word on the command line. `run` is the id of a run of that job, or its beginning. */
export type Meaning =
  | { readonly kind: "run folder"; readonly folder: string }
  | { readonly kind: "job folder"; readonly folder: string; readonly run?: string }
  | { readonly kind: "job file"; readonly file: string; readonly run?: string }
  | { readonly kind: "job"; readonly name: string; readonly run?: string }
  | { readonly kind: "database"; readonly file: string }
  | { readonly kind: "unknown" };

/** The things at the path that a word is, at the path before its `@`, and at the folder that a job of that name would have. */
export interface Sights {
  readonly whole: Found;
  readonly before: Found;
  readonly job: Found;
}

/** A word in its parts: `nightly@20261120` names a run of `nightly`. */
interface Word {
  readonly text: string;
  readonly before: string;
  readonly run: string | undefined;
}

/** Takes a word apart. What stands behind `@` is an id of a run, or the beginning of one, from the day on. */
export function wordFrom(text: string): Word {
  const [, before = text, run] = /^(.+)@(\d{8}(?:T\d{0,9}Z?)?)$/.exec(text) ?? [];
  return { text, before, run };
}

/**
 * Decides what a word stands for. A path comes first: the folder of a run, the folder of a job, a job file (by its ending), a
 * database. The name of a job comes second. Any other file or folder hides no name.
 */
export function meaningOf({ text, before, run }: Word, { whole, before: found, job }: Sights): Meaning {
  const which = run === undefined ? {} : { run };
  if (whole === "run") return { kind: "run folder", folder: text };
  if (whole === "database") return { kind: "database", file: text };
  if (whole === "job") return { kind: "job folder", folder: text };
  if (whole === "job file") return { kind: "job file", file: text };
  if (run !== undefined && found === "job") return { kind: "job folder", folder: before, run };
  if (run !== undefined && found === "job file") return { kind: "job file", file: before, run };
  if ((job === "job" || job === "begun") && isJobName(before)) return { kind: "job", name: before, ...which };
  return whole === "begun" ? { kind: "job folder", folder: text } : { kind: "unknown" };
}

/** Tells what lies at a path; links are followed. */
export async function lookAt(path: string): Promise<Found> {
  const facts = await stat(path).catch((error: unknown) => {
    if (isAbsence(error) || isNoPath(error)) return undefined;
    throw error;
  });
  if (!facts) return "nothing";
  if (facts.isFile()) return lookAtFile(path);
  if (!facts.isDirectory()) return "other"; // a pipe would have to be waited for
  if (await isThere(join(path, manifestName))) return "run";
  for (const name of ["runs", "latest"]) if (await isThere(join(path, name))) return "job";
  for (const name of [".work", "shards"]) if (await isThere(join(path, name))) return "begun";
  return "folder";
}

async function lookAtFile(path: string): Promise<Found> {
  if (/\.(ya?ml|json)$/i.test(path)) return "job file";
  if (/\.(duckdb|db)$/i.test(path)) return "database";
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(12), 0, 12);
    return buffer.toString("latin1", 8) === "DUCK" ? "database" : "other"; // https://duckdb.org/docs/stable/internals/storage
  } finally {
    await file.close();
  }
}

/** Whether an error says that no path can look like this, or that a link leads to itself. */
function isNoPath(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENAMETOOLONG" || error.code === "ELOOP");
}

/** The names of the jobs in an output folder, in order; undefined if there is no such folder. */
export async function jobsIn(dir: string): Promise<readonly string[] | undefined> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (isAbsence(error)) return undefined;
    throw error;
  });
  if (!names) return undefined;
  const jobs: string[] = [];
  for (const name of names.sort()) if (/^(job|begun)$/.test(await lookAt(join(dir, name)))) jobs.push(name);
  return jobs;
}

/** Finds what a word that begins with `s3://` stands for. UsageError where there is no such job, or its head does not list the run. */
export async function findInBucket(text: string, options: FindOptions): Promise<FoundThing> {
  const { url, run, folder, isDatabase } = bucketWordFrom(text);
  const copy = await copyFrom(url, options);
  if (isDatabase) return { kind: "database", file: await databaseOf(text, copy) };
  if (folder !== undefined && !copy.head.runs.some((listed) => listed.folder === folder)) throw unlisted(text, copy);
  return { ...jobOf(copy), ...(run === undefined ? {} : { run }) };
}

function jobOf(copy: JobCopy): FoundJob {
  const output = { dir: dirname(copy.folder), bucket: copy.url.slice(0, copy.url.lastIndexOf("/")), keep: undefined };
  return { kind: "job", location: { name: copy.job, output }, copy };
}

/** The place that such a word names. It is not looked at. */
export function locationInBucket(text: string): FoundThing {
  const { url, run, isDatabase } = bucketWordFrom(text);
  if (isDatabase) return { kind: "database", file: text };
  const [at, which] = [url.lastIndexOf("/"), run === undefined ? {} : { run }];
  const output = { ...outputLocation(url.slice(0, at)), keep: undefined };
  return { kind: "job", location: { name: url.slice(at + 1), output }, ...which };
}

async function databaseOf(text: string, copy: JobCopy): Promise<string> {
  const database = await copyDatabase(copy);
  if (database !== undefined) return database;
  throw new UsageError("No such run or job:", [{ path: text, message: "the job has no database there" }]);
}

/** The error of a folder that is in the bucket, or was, but is no dump: its run was never finished, or is removed. */
function unlisted(text: string, { url, head }: JobCopy): UsageError {
  const ids = head.runs.map(({ run_id }) => run_id).reverse();
  const there = ids.length > 0 ? `the newest runs: ${ids.slice(0, 5).join(", ")}` : "it lists no run";
  const message = `the head.json of ${url} does not list it, so it is no dump: its run was not finished, or was removed; ${there}`;
  return new UsageError("No such run:", [{ path: text, message }]);
}

/** The names of the jobs at a place in a bucket, in order. */
export function namesInBucket(url: string, options: FindOptions): Promise<readonly string[]> {
  return jobsInBucket(url, copyOptions(options));
}

/** Looks up a job in a bucket. */
export function copyFrom(url: string, options: FindOptions): Promise<JobCopy> {
  return lookUpJob(url, copyOptions(options));
}

/** Without a say of the caller, nothing is shown, and nothing ends the work. */
function copyOptions({ env, signal, log, watch }: FindOptions): CopyOptions {
  return {
    env,
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
  readonly run?: string;
  /** The folder of the run, where the word names that: `runs/<run_id>.<epoch>-<token>`. */
  readonly folder?: string;
  /** The word names the database of the job. */
  readonly isDatabase?: true;
}

const runPath = /^(.+)\/(runs\/(\d{8}T\d{9}Z)(?:\.\d{1,15}-[0-9a-f]{8})?)$/;

/**
 * Takes a word apart that names something in a bucket: a job, a run of it behind an `@`, the folder of a run, or the database of a job.
 * UsageError for anything else.
 */
export function bucketWordFrom(text: string): BucketWord {
  const { before, run } = wordFrom(text.replace(/\/+$/, ""));
  const path = urlOfPrefix(prefixFromUrl(before));
  const [, jobOfRun, folder = "", runId = ""] = runPath.exec(path) ?? [];
  if (jobOfRun !== undefined && run === undefined && isRunId(runId)) {
    const isWhole = folder.includes(".");
    return { url: jobUrl(jobOfRun, text), run: runId, ...(isWhole ? { folder } : {}) };
  }
  const [, jobOfDatabase, name] = /^(.+)\/([^/]+)\.duckdb$/.exec(path) ?? [];
  if (jobOfDatabase?.endsWith(`/${name}`) && run === undefined)
    return { url: jobUrl(jobOfDatabase, text), isDatabase: true };
  return { url: jobUrl(path, text), ...(run === undefined ? {} : { run }) };
}

function jobUrl(url: string, text: string): string {
  const { prefix } = prefixFromUrl(url);
  if (isJobName(prefix.slice(prefix.lastIndexOf("/") + 1))) return url;
  const message =
    "expected a job in a bucket, s3://bucket/prefix/<job>, or a run of it: s3://bucket/prefix/<job>@20261120";
  throw new UsageError("No such run or job:", [{ path: text, message }]);
}
