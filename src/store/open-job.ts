import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunId } from "../dump/run-id.js";
import { InterruptedError, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, writeAside } from "../files/files.js";
import type { Job } from "../job/job.js";
import { type Bucket, openBucket } from "./bucket/bucket.js";
import { BucketStore } from "./bucket/bucket-store.js";
import { type BucketLease, leaseInBucket } from "./bucket/lease.js";
import type { Condition, Written } from "./bucket/objects.js";
import { type LeasedJob, shownPath } from "./folder/job-folders.js";
import { type Lease, type LeaseOptions, leaseFolder, openedWith } from "./folder/lease.js";

export interface JobOptions extends LeaseOptions {
  /** Names the credentials of the bucket. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Milliseconds that requests to the bucket have to end, once the user has interrupted. */
const grace = 10_000;

/**
 * Takes the lease of a job: of its folder on this machine, and of its place in the bucket if it has one. BusyError if another run has
 * either, LostError if another took over meanwhile, UsageError if the folder is that of other runs.
 */
export async function leaseJob(job: Job, options: JobOptions): Promise<Lease> {
  const lease = await leaseFolder(job, options);
  return openedWith(lease, async () => {
    const url = job.output.bucket === undefined ? undefined : shownPath(job, lease.folder);
    await claimFolder(lease, url);
    return url === undefined ? lease : leaseBucket(url, job, lease, options);
  });
}

/** Adds the lease of the place in the bucket. An interruption ends the lease, too, so the signal ends the requests a while later only. */
async function leaseBucket(url: string, job: Job, lease: Lease, options: JobOptions): Promise<Lease> {
  const { env, signal, log } = options;
  const ends = new AbortController();
  const endSoon = () => setTimeout(() => ends.abort(signal.reason), grace).unref();
  signal.throwIfAborted();
  signal.addEventListener("abort", endSoon, { once: true });
  const bucket = await openBucket(url, { env, signal: ends.signal });
  let inBucket: BucketLease | undefined;
  const explain = async (error: unknown) => lease.explain((inBucket && lossBehind(error, inBucket)) ?? error);
  const close = async () => {
    await inBucket
      ?.release()
      .catch((error: unknown) => log("warn", `the lease of the bucket could not be released: ${problemText(error)}`));
    signal.removeEventListener("abort", endSoon);
    await bucket.close();
  };
  try {
    await requireConditions(bucket);
    inBucket = await leaseInBucket(bucket, options);
    const lost = AbortSignal.any([lease.lost, inBucket.lost]);
    const patience = { log, signal, outage: job.service.outage };
    const store = await BucketStore.open(bucket, inBucket, { ...lease, lost }, patience);
    const end = async () => {
      await close();
      await lease[Symbol.asyncDispose]();
    };
    return { ...lease, store, remote: store, lost, explain, [Symbol.asyncDispose]: end };
  } catch (error) {
    const reason = (inBucket && lossBehind(error, inBucket)) ?? error;
    await close();
    throw reason;
  }
}

/** The LostError behind an error where another run has taken over. */
function lossBehind(error: unknown, { lost }: BucketLease): unknown {
  return lost.aborted && !(error instanceof InterruptedError) ? lost.reason : undefined;
}

/** The file in a work folder that names the place in a bucket whose runs it follows. */
const markName = "bucket";

/**
 * Makes sure that the folder of a job is for nothing else: the runs of a local folder are its dumps, and a work folder removes whatever
 * its bucket does not list. `url`: the place of the job in its bucket; undefined: it has none. UsageError where the folder has another use.
 */
async function claimFolder(leased: LeasedJob, url: string | undefined): Promise<void> {
  const mark = join(leased.private, markName);
  const urlOfMark = (await readFile(mark, "utf8").catch(ifAbsent(undefined)))?.trim();
  if (urlOfMark === url) return;
  if (urlOfMark !== undefined)
    throw refusal(
      `${leased.folder} is the work folder of ${urlOfMark}`,
      `Let ${url === undefined ? "output.dir" : "output.work_dir"} name another folder`,
    );
  if ((await readdir(leased.runs)).some(isRunId) || (await isThere(leased.database)))
    throw refusal(
      `${leased.folder} holds runs or a database of its own, which a work folder of ${url} would remove`,
      "Let output.work_dir name another folder",
    );
  await writeAside(mark, `${url}\n`, { aside: join(leased.own, markName) });
}

function refusal(problem: string, remedy: string): UsageError {
  return new UsageError(`${problem}. ${remedy}`, []);
}

/** Makes sure that the store honours conditions of writes, on which the safety of every publication rests. UsageError where it does not. */
async function requireConditions(bucket: Bucket): Promise<void> {
  const answer = await tryConditions(bucket);
  if (answer === "honoured") return;
  throw new UsageError(
    `${bucket.url} cannot be used: ${answer}, so two runs at once could undo each other's changes. Use a store with conditional writes`,
    [],
  );
}

/**
 * Tries with an object of its own, which it removes again, whether the store honours conditions of writes. `honoured`, or a sentence
 * that says which one it ignores. Any other trouble is the error of the request that met it.
 */
export async function tryConditions(bucket: Bucket): Promise<"honoured" | string> {
  const key = `try-conditions-${randomUUID()}`;
  const put = (text: string, condition: Condition) => bucket.put(key, Buffer.from(`${key} ${text}\n`), condition);
  try {
    const first = await put("first", "absent");
    if (first === "refused") return "the store refuses to create an object with If-None-Match";
    if ((await put("second", "absent")) !== "refused")
      return "the store ignores If-None-Match: it replaced an object that it should only have created";
    if ((await put("third", { etag: '"00000000000000000000000000000000"' })) !== "refused")
      return "the store ignores If-Match: it replaced an object that has another ETag";
    return judgeLast(await put("fourth", first));
  } catch (error) {
    if (error instanceof StopError && error.status === 501)
      return "the store does not support conditional writes (501 Not Implemented)";
    throw error;
  } finally {
    await bucket.remove([key]).catch(() => {}); // the answer stands, and a scratch object does no harm
  }
}

function judgeLast(written: Written): "honoured" | string {
  return written === "refused"
    ? "the store refuses to replace an object with If-Match, although its ETag is right"
    : "honoured";
}
