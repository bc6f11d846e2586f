import * as v from "valibot";
import { isRunId } from "../../dump/run-id.js";
import { BusyError, LostError, StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { RunOptions } from "../../job/open-service.js";
import { check, count, isMapping, listOf, oneOf, openObject, pattern, truth } from "../../schema.js";
import {
  deadAfter,
  isAlive,
  ownerText,
  processEntries,
  silenceText,
  startHeartbeat,
  takenOverText,
  thisOwner,
} from "../folder/lock-owner.js";
import type { Bucket } from "./bucket.js";
import type { Found } from "./objects.js";

/** The key of a job's head, which records the owner of the job and its runs. Every change of it is a conditional write. */
export const headKey = "head.json";

const folderPattern = /^runs\/(\d{8}T\d{9}Z)\.(\d{1,15})-([0-9a-f]{8})$/;
const folderName = pattern("the folder of a run, such as runs/20261120T020000123Z.3-0a1b2c3d", folderPattern);
const sha256 = pattern("a SHA-256", /^[0-9a-f]{64}$/);

const ownerSchema = openObject({
  /** The id of this lease. No two leases share one. */
  id: pattern("the id of a holder", /^[0-9a-f]{8}[0-9a-f-]*$/),
  ...processEntries,
  released: truth,
});

const runId = v.pipe(v.string("the id of a run"), v.check(isRunId, "the id of a run"));

const runSchema = openObject({
  run_id: runId,
  status: oneOf("complete", "partial"),
  /** The folder of the run. The keys of its files start with it and a slash. */
  folder: folderName,
  manifest: openObject({ bytes: count, sha256 }),
});

const headSchema = openObject({
  format: v.literal(1, "1"),
  /** The number of the lease: every new owner raises it. */
  epoch: count,
  owner: v.nullable(ownerSchema),
  /** Rises with every change, so that the owner can send a heartbeat. */
  beat: count,
  /** The runs of the job, sorted by id. A folder that is not listed is not a dump. */
  runs: listOf(runSchema),
  /** The id of the newest complete run; null if there is none. */
  latest: v.nullable(runId),
});

/** The content of `head.json`. Changes keep members that a newer version added. */
export type Head = Readonly<v.InferOutput<typeof headSchema>>;
export type BucketOwner = Readonly<v.InferOutput<typeof ownerSchema>>;
export type BucketRun = Readonly<v.InferOutput<typeof runSchema>>;

/** The head of a job that never ran. */
export const emptyHead: Head = { format: 1, epoch: 0, owner: null, beat: 0, runs: [], latest: null };

/** `every`: milliseconds between two heartbeats; 20 s by default. */
export type BucketLeaseOptions = Required<Pick<RunOptions, "now" | "log">> & { readonly every?: number };

/** How often to try one change. A try fails if an earlier change of this owner succeeded but its answer was lost. */
const mostTries = 5;

/**
 * Takes the lease of a job in its bucket. Throws BusyError while another owner may be alive: the head changed in the last two
 * minutes by the store's clock, the lease was not released, and nothing proves that the owner's process ended. Throws
 * StopError if the head was removed or replaced by hand.
 */
export async function leaseInBucket(bucket: Bucket, options: BucketLeaseOptions): Promise<BucketLease> {
  const owner: BucketOwner = { ...(await thisOwner(options.now())), released: false };
  for (let tries = 1; tries <= mostTries; tries++) {
    const found = await readHead(bucket);
    const { head } = found ?? { head: emptyHead };
    if (found && head.owner?.id === owner.id) return ownHead(bucket, options, found);
    const { owner: other } = head;
    if (found && other && !mayTakeOver(head, found.age) && (await isAlive(other)) !== false) {
      const who = `${ownerText(other)}. ${silenceText(found.age, "hold")}`;
      throw new BusyError(`another run of this job is active: ${who}. Wait for its end, or end it there`);
    }
    if (!(await isNewestHead(bucket, head, found?.etag))) continue;
    const next = { ...head, epoch: head.epoch + 1, owner, beat: head.beat + 1 };
    const written = await bucket.put(headKey, bytesOfHead(next), found ?? "absent");
    if (written !== "refused") return ownHead(bucket, options, { head: next, etag: written.etag });
  }
  throw new BusyError("another run of this job is active: others change head.json all the time. Start again later");
}

/** A head as it is in the bucket, with the ETag of its object. */
interface WrittenHead {
  readonly head: Head;
  readonly etag: string;
}

/** The lease of a job in a bucket. */
export interface BucketLease {
  /** Aborted with a LostError once this owner notices that another run took over. */
  readonly lost: AbortSignal;
  /** The head as this owner last wrote it. */
  readonly head: () => Head;
  /**
   * Changes the head by one conditional write, which is also a heartbeat. Succeeds even if the answer to the write is lost. Rejects
   * with LostError if another run has taken over.
   */
  readonly change: (decide: (head: Head) => Head) => Promise<void>;
  /** Releases the lease, so that the next run need not wait. Does nothing if another run took over. */
  readonly release: () => Promise<void>;
}

function ownHead(bucket: Bucket, { log, every = 20_000 }: BucketLeaseOptions, taken: WrittenHead): BucketLease {
  const lost = new AbortController();
  let written = taken;
  const write = async (decide: (head: Head) => Head) => {
    for (let tries = 1; tries <= mostTries; tries++) {
      lost.signal.throwIfAborted();
      const decided = decide(written.head);
      const next = { ...decided, beat: decided.beat + 1 };
      const bytes = bytesOfHead(next);
      const outcome = await bucket.put(headKey, bytes, written);
      // A refusal means that the answer to our last write was lost, or that another run took over.
      written = outcome === "refused" ? await readOwnHead(bucket, taken.head, lost) : { ...outcome, head: next };
      if (bytesOfHead(written.head).equals(bytes)) return;
    }
    throw new BusyError(`${bucket.url}/${headKey} changes all the time; is this job active elsewhere?`);
  };
  let last: Promise<void> = Promise.resolve();
  const change: BucketLease["change"] = (decide) => {
    last = last.catch(() => {}).then(() => write(decide)); // one at a time, each based on the head that the last one wrote
    return last;
  };
  let isWarned = false;
  const warn = (error: unknown) => {
    if (!isWarned && !lost.signal.aborted) log("warn", `a heartbeat could not be written: ${problemText(error)}`);
    isWarned = true;
  };
  const beat = async () => {
    await change((head) => head);
    isWarned = false;
  };
  const endHeartbeat = startHeartbeat(every, () => beat().catch(warn));
  lost.signal.addEventListener("abort", endHeartbeat, { once: true });
  return {
    lost: lost.signal,
    head: () => written.head,
    change,
    release: async () => {
      await endHeartbeat();
      const release = (head: Head) => ({ ...head, owner: head.owner && { ...head.owner, released: true } });
      await change(release).catch((error: unknown) => {
        if (!(error instanceof LostError)) throw error;
      });
    },
  };
}

/** Reads the head again. If it is no longer the one of this owner, aborts `lost` and throws LostError. */
async function readOwnHead(bucket: Bucket, own: Head, lost: AbortController): Promise<WrittenHead> {
  const found = await readHead(bucket);
  const { epoch, owner } = found?.head ?? emptyHead;
  if (found && epoch === own.epoch && owner?.id === own.owner?.id) return found;
  const removed = `${bucket.url}/${headKey} was removed or replaced while this run was active, so it ends`;
  lost.abort(new LostError(owner ? takenOverText(ownerText(owner)) : removed));
  throw lost.signal.reason;
}

/**
 * Checks that no run folder has a higher epoch than the head. Returns false if the head changed since it was read. Throws
 * StopError if there is such a folder: a newer head was removed or replaced by hand, and its runs would be removed as
 * leftovers. `etag`: of the head; undefined if there is no head.
 */
async function isNewestHead(bucket: Bucket, { epoch }: Head, etag: string | undefined): Promise<boolean> {
  for await (const name of bucket.folders("runs/")) {
    const newer = folderOfKey(`runs/${name}/`);
    if (!newer || newer.epoch <= epoch) continue;
    if ((await bucket.read(headKey))?.etag !== etag) return false;
    const problem = `${bucket.url}/${headKey} was removed or replaced by hand: ${bucket.url}/${newer.folder} is newer`;
    throw new StopError(
      `${problem}. Bring back the last version of ${headKey}; or, if you do not need them, remove the folders in ${bucket.url}/runs that it does not list`,
    );
  }
  return true;
}

/** Reads the head of a job, or of a shard by its `key`; undefined if it does not exist. */
export async function readHead(bucket: Bucket, key = headKey): Promise<(Found & { readonly head: Head }) | undefined> {
  const found = await bucket.read(key);
  return found && { ...found, head: headFrom(found.bytes, `${bucket.url}/${key}`) };
}

/** Parses a head. Throws StopError if it is invalid, or has a newer format. `url`: its address, for messages. */
export function headFrom(bytes: Buffer, url: string): Head {
  const unusable = (problem: string) =>
    new StopError(`${url} ${problem}. Bring back its last sound version, or use another prefix`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw unusable("is not JSON");
  }
  if (isMapping(value) && typeof value.format === "number" && value.format > 1)
    throw new StopError(`${url} was written by a newer version of kbdump (format ${value.format}). Use that version`);
  const checked = check(headSchema, value);
  if (checked.problems === null) return checked.value;
  const [first] = checked.problems;
  throw unusable(`cannot be used: ${first?.path ? `${first.path}: ${first.message}` : first?.message}`);
}

export function bytesOfHead(head: Head): Buffer {
  return Buffer.from(`${JSON.stringify(head, null, 1)}\n`);
}

/** Whether another run may take over the job. `age`: milliseconds since the head was changed, by the store's clock. */
export function mayTakeOver({ owner }: Head, age: number): boolean {
  return owner === null || owner.released || age >= deadAfter;
}

/** The head with this run added. Adding it again changes nothing. A complete run becomes `latest` if it is the newest. */
export function withRun(head: Head, run: BucketRun): Head {
  const others = head.runs.filter(({ run_id }) => run_id !== run.run_id);
  const runs = [...others, run].sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
  const isNewest = run.status === "complete" && (head.latest === null || head.latest < run.run_id);
  return { ...head, runs, latest: isNewest ? run.run_id : head.latest };
}

/** The head without this run. If it was `latest`, the newest complete run that is left becomes it. */
export function withoutRun(head: Head, runId: string): Head {
  const runs = head.runs.filter(({ run_id }) => run_id !== runId);
  if (head.latest !== runId) return { ...head, runs };
  return { ...head, runs, latest: runs.findLast(({ status }) => status === "complete")?.run_id ?? null };
}

/** The folder of a run, unique to the owner of the head: `runs/<run_id>.<epoch>-<first 8 of the owner's id>`. */
export function runFolderOf({ epoch, owner }: Head, runId: string): string {
  return `runs/${runId}.${epoch}-${owner?.id.slice(0, 8)}`;
}

/** The run folder that contains a key, with the epoch of its owner; undefined for any other key. */
export function folderOfKey(key: string): { readonly folder: string; readonly epoch: number } | undefined {
  const folder = key.split("/", 2).join("/");
  const epoch = key.startsWith(`${folder}/`) ? folderPattern.exec(folder)?.[2] : undefined;
  return epoch === undefined ? undefined : { folder, epoch: Number(epoch) };
}
