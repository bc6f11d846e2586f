import { join } from "node:path";
import { readDumpFolder } from "../dump/read-manifest.js";
import { UsageError } from "../errors.js";
import { isJobName, type Job } from "../job/job.js";
import { loadJob } from "../job/load-job.js";
import { recordedJobFile } from "../job/manifest-options.js";
import type { JobFlags } from "../job/merge-flags.js";
import { isBucketUrl } from "../job/s3-url.js";
import { looksLikeKey } from "../safe-text.js";
import { fetchManifestsOf } from "../store/bucket/fetch-run.js";
import { type FindOptions, findNamed, isJob, lookAt } from "../store/find-named.js";
import { newestRun } from "../store/find-run.js";

/**
 * Loads the job that a word names: a job file, or the name or folder of a job, which is then loaded from its newest run. Flags
 * override its settings. `notifies`: the command sends the job's notifications. Throws UsageError if there is no such job, or with
 * every problem of the job.
 */
export async function findJob(
  word: string,
  flags: JobFlags,
  options: FindOptions,
  { notifies }: { readonly notifies: boolean },
): Promise<Job> {
  const { env, out } = options;
  if (!(await namesPastJob(word, out))) return loadJob({ file: word }, flags, env, { notifies });
  const found = await findNamed(word, options);
  if (found.kind !== "job" || found.run !== undefined)
    throw new UsageError("No such job:", [{ path: word, message: "expected a job: its file, its name or its folder" }]);
  const { folder: run, inBucket } = await newestRun(found, word);
  if (inBucket) await fetchManifestsOf(inBucket.copy, [inBucket.run]);
  const { manifest, problems } = await readDumpFolder(run);
  if (manifest === undefined)
    throw new UsageError(
      `The job of ${run} cannot be read:`,
      problems.map((message) => ({ path: run, message })),
    );
  if (notifies && manifest.options.notify === true) {
    const message = "the job sends notifications, and no run records their addresses; name its job file";
    throw new UsageError("The job cannot be run by its name:", [{ path: word, message }]);
  }
  const { bucket, dir } = found.location.output;
  const recorded = recordedJobFile(manifest, bucket ?? dir);
  return loadJob({ what: `the job that ${run} recorded`, recorded }, flags, env, { notifies });
}

/** Whether a word names a job that has run, not a job file: a job folder, or a name that is not a file. */
async function namesPastJob(word: string, out = "output"): Promise<boolean> {
  if (isBucketUrl(word)) return true;
  const there = await lookAt(word);
  if (isJob(there)) return true;
  if (!isJobName(word) || looksLikeKey(word)) return false;
  return there === "nothing" || isBucketUrl(out) || isJob(await lookAt(join(out, word)));
}
