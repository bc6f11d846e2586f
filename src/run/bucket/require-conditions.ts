import type { Bucket } from "../../bucket/bucket.js";
import { tryConditions } from "../../bucket/try-conditions.js";
import { UsageError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";

/**
 * Makes sure that the store honours conditions of writes, on which the safety of every publication rests. True where it does not and
 * the job allows that, with a warning; else UsageError.
 */
export async function requireConditions(bucket: Bucket, job: Job, log: Log): Promise<boolean> {
  const answer = await tryConditions(bucket);
  if (answer === "honoured") return false;
  if (!job.output.allowUnsafeLock)
    throw new UsageError(
      `${bucket.url} cannot be used: ${answer}, so two runs at once could undo each other's changes. Use a store with conditional writes, or set output.allow_unsafe_lock: true and see to it that only one run of this job is at work`,
      [],
    );
  log("warn", `${bucket.url}: ${answer}. See to it that only one run of this job is at work`);
  return true;
}
