import { join } from "node:path";
import { readDumpFolder } from "../dump/read-manifest.js";
import { UsageError } from "../errors.js";
import { looksLikeKey } from "../job/findings.js";
import { isJobName, type Job } from "../job/job.js";
import { loadJob } from "../job/load-job.js";
import type { JobFlags } from "../job/merge-flags.js";
import { recordedJobFile } from "../job/recorded-options.js";
import { isBucketUrl } from "../job/s3-url.js";
import { type FindOptions, type FoundJob, findNamed, lookAt } from "./find-named.js";
import { findNewestRun } from "./find-run.js";

interface Wish {
  /** Whether the command sends the notifications of the job. */
  readonly notifies: boolean;
}

/**
 * The job that a word stands for, with the flags over it: a job file, or the name or folder of a job that has run, as its newest run
 * recorded it. UsageError where there is none, or with every problem.
 */
export async function findJob(word: string, flags: JobFlags, options: FindOptions, { notifies }: Wish): Promise<Job> {
  if (!(await isNamed(word, options.out))) return loadJob({ file: word }, flags, options.env, { notifies });
  const found = await findNamed(word, options);
  if (found.kind === "job" && found.run === undefined) return recordedJob(found, word, flags, options, { notifies });
  throw new UsageError("No such job:", [{ path: word, message: "expected a job: its file, its name or its folder" }]);
}

/** Whether a word names a job that has run, and not a job file: its folder, or a name that no job file has. */
async function isNamed(word: string, out = "output"): Promise<boolean> {
  if (isBucketUrl(word)) return true;
  const there = await lookAt(word);
  if (there === "job" || there === "begun") return true;
  if (!isJobName(word) || looksLikeKey(word)) return false;
  if (there === "nothing" || isBucketUrl(out)) return true;
  return ["job", "begun"].includes(await lookAt(join(out, word)));
}

async function recordedJob(
  job: FoundJob,
  word: string,
  flags: JobFlags,
  { env }: FindOptions,
  { notifies }: Wish,
): Promise<Job> {
  const run = await findNewestRun(job, word);
  const { manifest, problems } = await readDumpFolder(run);
  if (manifest === undefined) throw new UsageError(`The job of ${run} cannot be read:`, problemsOf(run, problems));
  if (notifies && manifest.options.notify === true) {
    const message = "the job sends notifications, and no run records their addresses; name its job file";
    throw new UsageError("The job cannot be run by its name:", [{ path: word, message }]);
  }
  const { bucket, dir } = job.location.output;
  const recorded = recordedJobFile(manifest, bucket ?? dir);
  return loadJob({ what: `the job that ${run} recorded`, recorded }, flags, env, { notifies });
}

function problemsOf(path: string, problems: readonly string[]) {
  return problems.map((message) => ({ path, message }));
}
