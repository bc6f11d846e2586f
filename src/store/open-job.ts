import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunId } from "../dump/run-id.js";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, writeAside } from "../files/files.js";
import type { Job } from "../job/job.js";
import { type Bucket, openBucket } from "./bucket/bucket.js";
import { BucketStore } from "./bucket/bucket-store.js";
import { leaseInBucket } from "./bucket/lease.js";
import type { Condition } from "./bucket/objects.js";
import { type LeasedJob, shownPath } from "./folder/job-folders.js";
import { type Lease, type LeaseOptions, leaseFolder, lossBehind, openedWith } from "./folder/lease.js";

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
  const url = job.output.bucket === undefined ? undefined : shownPath(job, lease.folder);
  await openedWith(lease, () => claimFolder(lease, url));
  if (url === undefined) return lease;
  const { held, bucket, ...both } = await openedWith(lease, () => leaseBucket(url, lease, options));
  return openedWith(both, async () => {
    const patience = { log: options.log, signal: options.signal, outage: job.service.outage };
    const store = await BucketStore.open(bucket, held, both, patience);
    return { ...both, store, remote: store };
  });
}

/** Adds the lease of the place in the bucket. An interruption ends the lease, too, so the signal ends the requests a while later only. */
async function leaseBucket(url: string, lease: Lease, options: JobOptions) {
  const { env, signal, log } = options;
  const ends = new AbortController();
  const endSoon = () => setTimeout(() => ends.abort(signal.reason), grace).unref();
  signal.throwIfAborted();
  signal.addEventListener("abort", endSoon, { once: true });
  const bucket = await openBucket(url, { env, signal: ends.signal });
  const close = async () => {
    signal.removeEventListener("abort", endSoon);
    await bucket.close();
  };
  try {
    await requireConditions(bucket);
    const held = await leaseInBucket(bucket, options);
    const leased = { ...lease, lost: AbortSignal.any([lease.lost, held.lost]) };
    const release = async () => {
      await held.release().catch((error: unknown) => {
        log("warn", `the lease of the bucket could not be released: ${problemText(error)}`);
      });
      await close();
      await lease[Symbol.asyncDispose]();
    };
    const explain = async (error: unknown) => (await lossBehind(error, leased)) ?? error;
    return { ...leased, held, bucket, explain, [Symbol.asyncDispose]: release };
  } catch (error) {
    await close();
    throw error;
  }
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
  const hasOwn = async () => (await readdir(leased.runs)).some(isRunId) || (await isThere(leased.database));
  const setting = url === undefined ? "output.dir" : "output.work_dir";
  if (urlOfMark !== undefined || (await hasOwn())) {
    const ofMark = `is the work folder of ${urlOfMark}`;
    const ofOwn = `holds runs or a database of its own, which a work folder of ${url} would remove`;
    const problem = `${leased.folder} ${urlOfMark === undefined ? ofOwn : ofMark}`;
    throw new UsageError(`${problem}. Let ${setting} name another folder`, []);
  }
  await writeAside(mark, `${url}\n`, { aside: join(leased.own, markName) });
}

/** Makes sure that the store honours conditions of writes, on which the safety of every publication rests. UsageError where it does not. */
async function requireConditions(bucket: Bucket): Promise<void> {
  const fault = await tryConditions(bucket);
  if (fault === undefined) return;
  throw new UsageError(
    `${bucket.url} cannot be used: ${fault}, so two runs at once could undo each other's changes. Use a store with conditional writes`,
    [],
  );
}

/**
 * Tries with an object of its own, which it removes again, whether the store honours conditions of writes: undefined, or a sentence
 * that says which one it ignores. Any other trouble is the error of the request that met it.
 */
export async function tryConditions(bucket: Bucket): Promise<string | undefined> {
  const key = `try-conditions-${randomUUID()}`;
  const put = (text: string, condition: Condition) => bucket.put(key, Buffer.from(`${key} ${text}\n`), condition);
  try {
    const first = await put("first", "absent");
    if (first === "refused") return "the store refuses to create an object with If-None-Match";
    if ((await put("second", "absent")) !== "refused")
      return "the store ignores If-None-Match: it replaced an object that it should only have created";
    if ((await put("third", { etag: '"00000000000000000000000000000000"' })) !== "refused")
      return "the store ignores If-Match: it replaced an object that has another ETag";
    if ((await put("fourth", first)) === "refused")
      return "the store refuses to replace an object with If-Match, although its ETag is right";
    return undefined;
  } catch (error) {
    if (error instanceof StopError && error.status === 501)
      return "the store does not support conditional writes (501 Not Implemented)";
    throw error;
  } finally {
    await bucket.remove([key]).catch(() => {}); // the answer stands, and a scratch object does no harm
  }
}
