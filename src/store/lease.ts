import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunId } from "../dump/run-id.js";
import { InterruptedError, LostError, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, makeFolder, makeOwnFolder, writeAside } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import { type Bucket, openBucket } from "./bucket/bucket.js";
import { BucketStore } from "./bucket/bucket-store.js";
import { type BucketLease, leaseInBucket } from "./bucket/head.js";
import type { Condition } from "./bucket/objects.js";
import { entriesOf, fenceOthers, successorOf } from "./folder/fence.js";
import { FolderStore } from "./folder/folder-store.js";
import { foldersOf, type OwnFolder, refuseLinks, shownPath } from "./folder/job-folders.js";
import { type Lock, lockJob } from "./folder/lock.js";
import { takenOverText } from "./folder/lock-owner.js";

/** A job whose lease this process has, and what it may use. */
export interface LeasedJob extends OwnFolder {
  /** The folder or bucket that the job publishes to. */
  readonly store: FolderStore;
  /** Aborted, with a LostError, once another run has taken over the job. */
  readonly lost: AbortSignal;
  /** The job's bucket, also used for the exchange of a run; absent if the job publishes into its folder. */
  readonly remote?: BucketStore;
}

/** The lease of a job. It ends with its scope. The next owner takes over the files left in the `own` folder. */
export interface Lease extends LeasedJob, AsyncDisposable {
  /** Returns the error to report: the LostError if another run took over, otherwise the same error. Call it before the lease ends. */
  readonly explain: (error: unknown) => Promise<unknown>;
}

/** `env` has the credentials of the bucket. */
export type JobOptions = Required<Pick<RunOptions, "now" | "log" | "env" | "signal">>;

/**
 * Takes the lease of a job's local folder, and of its bucket if it has one. Throws BusyError if another run has either, LostError
 * if another run took over meanwhile, UsageError if the folder belongs to other runs.
 */
export async function leaseJob(job: Job, options: JobOptions): Promise<Lease> {
  const lease = await leaseFolder(job, options);
  const url = job.output.bucket === undefined ? undefined : shownPath(job, lease.folder);
  return openedWith(lease, async () => {
    await claimFolder(lease, url);
    return url === undefined ? lease : leaseBucket(url, lease, { ...options, outage: job.service.outage });
  });
}

/**
 * Takes the lease of a job's folder: takes the lock, makes our own folder, and stops every other owner from publishing, even
 * one without a lock. Read published files only after that. Throws BusyError if another run has it, LostError if another took
 * over meanwhile.
 */
export async function leaseFolder(
  job: Pick<Job, "name" | "output">,
  { now, log }: Pick<JobOptions, "now" | "log">,
): Promise<Lease> {
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await makeFolder(folders.private);
  const lock = await lockJob(folders.private, now());
  const owned = { ...folders, own: join(folders.private, lock.owner.id) };
  const leased: LeasedJob = { ...owned, lost: lock.lost, store: new FolderStore(owned) };
  const lease: Lease = {
    ...leased,
    explain: async (error) => (await lossBehind(error, leased)) ?? error,
    [Symbol.asyncDispose]: () =>
      end(leased, lock).catch((error: unknown) => log("warn", `the lock could not be released: ${problemText(error)}`)),
  };
  return openedWith(lease, async () => {
    const { own, runs, waiting } = lease;
    await makeOwnFolder(own);
    await writeFile(join(own, "owner.json"), JSON.stringify(lock.owner), { mode: 0o600 });
    await makeOwnFolder(join(own, "from"));
    // This process may have been frozen before it made its folder. Then it must not stop the current owner of the lock.
    await lock.confirm();
    for (const folder of [runs, waiting]) await makeFolder(folder);
    await fenceOthers(lease, lock, now());
    return lease;
  });
}

/** Runs `open` under a lease. If it fails, ends the lease. */
export async function openedWith<T>(lease: Lease, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const reason = await lease.explain(error);
    await lease[Symbol.asyncDispose]();
    throw reason;
  }
}

/** Ends the lease: marks our folder as finished, releases the lock, and removes the folder unless it has files for the next owner. */
async function end({ own }: LeasedJob, lock: Lock): Promise<void> {
  await writeFile(join(own, "released"), "", { mode: 0o600 }).catch(() => {}); // a successor may have removed the folder
  await lock.release(own);
  for (const entry of await entriesOf(own)) {
    const isFact = ["owner.json", "released", "lock"].includes(entry.name);
    const isEmpty = entry.isDirectory() && (await entriesOf(join(own, entry.name))).length === 0;
    if (!isFact && !isEmpty) return;
  }
  await rm(own, { recursive: true, force: true });
}

/**
 * The LostError that explains an error, if another run took over: any operation can fail then, because our folder is gone. Names the
 * successor if it left a note, which `error` may not do even if it is a LostError.
 */
export async function lossBehind(error: unknown, leased: LeasedJob): Promise<LostError | undefined> {
  if (error instanceof InterruptedError) return undefined;
  const successor = await successorOf(leased);
  if (successor !== undefined) return new LostError(takenOverText(successor), { cause: error });
  if (error instanceof LostError) return undefined;
  if (await isThere(leased.own).catch(() => true)) return leased.lost.aborted ? leased.lost.reason : undefined;
  return new LostError(`${leased.own}, the folder of this run, was removed while it was active, so it ends`, {
    cause: error,
  });
}

/** Milliseconds that requests to the bucket may continue after the user interrupts. */
const grace = 10_000;

/**
 * Adds the lease in the bucket. Throws UsageError if the store ignores the conditions of writes, because publishing safely depends
 * on them. After an interruption, requests may continue for a while, because releasing the lease needs them. `outage`: see
 * `retryUntilStoreIsBack`.
 */
async function leaseBucket(
  url: string,
  lease: Lease,
  options: JobOptions & { readonly outage: number },
): Promise<Lease> {
  const { env, signal, log } = options;
  const ends = new AbortController();
  const endSoon = () => setTimeout(() => ends.abort(signal.reason), grace).unref();
  signal.throwIfAborted();
  signal.addEventListener("abort", endSoon, { once: true });
  const bucket = await openBucket(url, { env, signal: ends.signal });
  let held: BucketLease | undefined;
  const release = async () => {
    await held?.release().catch((error: unknown) => {
      log("warn", `the lease of the bucket could not be released: ${problemText(error)}`);
    });
    signal.removeEventListener("abort", endSoon);
    await bucket[Symbol.asyncDispose]();
  };
  try {
    const fault = await tryConditions(bucket);
    if (fault !== undefined)
      throw new UsageError(
        `${bucket.url} cannot be used: ${fault}, so two runs at once could undo each other's changes. Use a store with conditional writes`,
        [],
      );
    held = await leaseInBucket(bucket, options);
    const store = new BucketStore(bucket, held, lease, options);
    await store.begin();
    const leased = { ...lease, store, remote: store, lost: AbortSignal.any([lease.lost, held.lost]) };
    return {
      ...leased,
      explain: async (error) => (await lossBehind(error, leased)) ?? error,
      [Symbol.asyncDispose]: async () => {
        await release();
        await lease[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The name of the file in a work folder that has the address of the bucket. */
const markName = "bucket";

/**
 * Reserves a folder for this job. A folder cannot serve both local dumps and a bucket, because a work folder loses all runs that
 * its bucket does not list. `url`: the job's address in its bucket; undefined without a bucket. Throws UsageError if the folder has
 * another use.
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

/**
 * Tests with a temporary object whether the store obeys the conditions of writes. Returns undefined if it does, otherwise a
 * sentence that names the failed condition. Rejects if a request fails for another reason.
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
    await bucket.remove([key]).catch(() => {}); // a leftover object does no harm
  }
}

/** The folders of an active run, in `output/<job>/.work/<token>/<run_id>`. */
export interface Workspace extends LeasedJob {
  readonly runId: string;
  /** When this work began. For resumed work, that is when the earlier run started. */
  readonly startedAt: Date;
  readonly work: string;
  /** The folder of the segments: one file per document, kind and text format, or several small documents in one. */
  readonly segments: string;
  /** The folder that becomes the run folder. */
  readonly stage: string;
  /** The folder of temporary files: unpublished JSONL, DuckDB's spill files, the new database. */
  readonly scratch: string;
}
