import { join } from "node:path";
import { BusyError } from "../errors.js";
import type { Job } from "../job/job.js";
import { findEarlierWork } from "../run/work/earlier-work.js";
import { foldersOf } from "../run/work/job-folders.js";
import { readLock, refuseHeld } from "../run/work/lock-file.js";

/** Other runs of the job that matter to the next one. */
export interface EarlierRun {
  /** The run that broke off and that the next one continues. */
  readonly continued: string | undefined;
  /** A sentence that names the run at work on this job; undefined if there is none. */
  readonly atWork: string | undefined;
}

/** Looks at the folder of the job, and changes nothing: neither the lock nor the work of others. */
export async function findEarlierRun(job: Job, now: () => Date): Promise<EarlierRun> {
  const folders = foldersOf(job);
  const atWork = await holderOf(join(folders.private, "lock"));
  if (atWork !== undefined) return { continued: undefined, atWork };
  return { continued: (await findEarlierWork(folders, job, now))?.runId, atWork };
}

async function holderOf(path: string): Promise<string | undefined> {
  try {
    const lock = await readLock(path).catch(() => undefined); // a plan can do without it
    if (lock) await refuseHeld(path, lock, Date.now());
    return undefined;
  } catch (error) {
    if (error instanceof BusyError) return error.message;
    throw error;
  }
}
