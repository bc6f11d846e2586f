import { dirname } from "node:path";
import { copyDatabase } from "../bucket/copy/copy-database.js";
import type { CopyOptions, JobCopy } from "../bucket/copy/job-copy.js";
import { jobsInBucket, lookUpJob } from "../bucket/copy/look-up-job.js";
import { UsageError } from "../errors.js";
import { outputPlace } from "../job/output-place.js";
import { bucketWordFrom } from "./bucket-word.js";
import type { FindOptions, FoundJob, FoundThing } from "./found-thing.js";

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
  return { kind: "job", place: { name: copy.job, output }, copy };
}

/** The place that such a word names. It is not looked at. */
export function placeInBucket(text: string): FoundThing {
  const { url, run, isDatabase } = bucketWordFrom(text);
  if (isDatabase) return { kind: "database", file: text };
  const [at, which] = [url.lastIndexOf("/"), run === undefined ? {} : { run }];
  const output = { ...outputPlace(url.slice(0, at)), keep: undefined };
  return { kind: "job", place: { name: url.slice(at + 1), output }, ...which };
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
