import type { BucketHolder } from "../../bucket/head.js";
import { type BucketHold, holdInBucket } from "../../bucket/hold-bucket.js";
import { openBucket } from "../../bucket/open-bucket.js";
import { InterruptedError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Job } from "../../job/job.js";
import { type HoldOptions, withHold } from "../work/hold.js";
import type { Hold } from "../work/job-folders.js";
import { holderFrom, isAlive, thisHolder } from "../work/lock-holder.js";
import { shownPath } from "../work/remote.js";
import { claimFolder } from "./claim-folder.js";
import { openRemote } from "./open-remote.js";
import { requireConditions } from "./require-conditions.js";

export interface JobOptions extends HoldOptions {
  /** Names the credentials of the bucket. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Milliseconds that requests to the bucket have to end, once the user has interrupted. */
const grace = 10_000;

/**
 * Holds a job while `work` runs: its folder on this machine, and its place in the bucket if it has one. BusyError if another run holds
 * either, LostError if another took over meanwhile, UsageError if the folder is that of other runs.
 */
export async function withJob<T>(job: Job, options: JobOptions, work: (hold: Hold) => Promise<T>): Promise<T> {
  const { bucket } = job.output;
  return withHold(job, options, async (hold) => {
    const url = bucket === undefined ? undefined : shownPath(job, hold.folder);
    await claimFolder(hold, url);
    return url === undefined ? work(hold) : withBucket(url, job, hold, options, work);
  });
}

/** An interruption lets go of the job, too, so the signal ends the requests a while later only. */
async function withBucket<T>(
  url: string,
  job: Job,
  hold: Hold,
  options: JobOptions,
  work: (hold: Hold) => Promise<T>,
): Promise<T> {
  const { env, signal, log } = options;
  const { outage } = job.service;
  const ends = new AbortController();
  const endSoon = () => setTimeout(() => ends.abort(signal.reason), grace).unref();
  signal.throwIfAborted();
  signal.addEventListener("abort", endSoon, { once: true });
  const bucket = await openBucket(url, { env, signal: ends.signal });
  try {
    const unsafe = await requireConditions(bucket, job, log);
    const holder = { ...(await thisHolder(options.now())), released: false };
    const held = await holdInBucket(bucket, { ...options, holder, isDead, unsafe });
    try {
      const lost = AbortSignal.any([hold.lost, held.lost]);
      const remote = await openRemote(bucket, held, { ...hold, lost }, { log, signal, unsafe, outage });
      return await work({ ...hold, lost, remote });
    } catch (error) {
      throw lossBehind(error, held) ?? error;
    } finally {
      await held
        .release()
        .catch((error: unknown) => log("warn", `the hold in the bucket could not be let go: ${problemText(error)}`));
    }
  } finally {
    signal.removeEventListener("abort", endSoon);
    await bucket.close();
  }
}

/** A process of this machine that is no more gives no further sign of life. */
async function isDead(holder: BucketHolder): Promise<boolean> {
  const known = holderFrom(JSON.stringify(holder));
  return known !== undefined && (await isAlive(known)) === false;
}

/** The LostError behind an error where another run has taken over. */
function lossBehind(error: unknown, { lost }: BucketHold): unknown {
  return lost.aborted && !(error instanceof InterruptedError) ? lost.reason : undefined;
}
