import { BusyError, LostError, StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";
import { isAlive, ownerFrom, silenceText, startHeartbeat, takenOverText, thisOwner } from "../folder/lock-owner.js";
import type { Bucket } from "./bucket.js";
import {
  type BucketOwner,
  type BucketRun,
  bytesOfHead,
  emptyHead,
  folderOfKey,
  type Head,
  headKey,
  isHeadOf,
  mayTakeOver,
  readHead,
  releasedHead,
  runFolderOf,
  takenOver,
  withBeat,
  withoutRuns,
  withRun,
} from "./head.js";

export interface BucketLeaseOptions {
  readonly now: () => Date;
  readonly log: Log;
  /** Milliseconds between two heartbeats; 20 s by default. */
  readonly every?: number;
}

/** Maximum tries for one change. A try fails if the answer to an earlier change of this owner was lost. */
const mostTries = 5;

/**
 * Takes the lease of a job in its bucket. Throws BusyError while another owner is alive: the head changed in the last two minutes
 * by the store's clock, was not released, and the owner's process is not proved dead. Throws StopError if the head was removed or
 * replaced by hand.
 */
export async function leaseInBucket(bucket: Bucket, options: BucketLeaseOptions): Promise<BucketLease> {
  const owner: BucketOwner = { ...(await thisOwner(options.now())), released: false };
  for (let tries = 1; tries <= mostTries; tries++) {
    const found = await readHead(bucket);
    const { head } = found ?? { head: emptyHead };
    if (found && head.owner?.id === owner.id) return new BucketLease(bucket, options, found);
    const isFree = !found || mayTakeOver(head, found.age);
    if (!isFree && !(await isDead(head.owner))) throw new BusyError(busyText(head, found.age));
    if (!(await isNewestHead(bucket, head, found?.etag))) continue;
    const next = takenOver(head, owner);
    const written = await bucket.put(headKey, bytesOfHead(next), found ? { etag: found.etag } : "absent");
    if (written !== "refused") return new BucketLease(bucket, options, { head: next, etag: written.etag });
  }
  throw new BusyError("another run of this job is active: others change head.json all the time. Start again later");
}

/** Whether the owner is a process of this machine that has ended, so that no heartbeat will follow. */
async function isDead(owner: BucketOwner | null): Promise<boolean> {
  const known = ownerFrom(JSON.stringify(owner));
  return known !== undefined && (await isAlive(known)) === false;
}

/** A head, and the ETag of its object. */
interface WrittenHead {
  readonly head: Head;
  readonly etag: string;
}

/** The lease of a job in a bucket. Every change is one conditional write; it rejects with LostError if another has taken over. */
export class BucketLease {
  /** Higher than the epoch of every earlier owner. */
  readonly epoch: number;
  /** The id of this owner, a UUID. */
  readonly token: string;
  readonly #bucket: Bucket;
  readonly #lost = new AbortController();
  readonly #endHeartbeat: () => Promise<void>;
  #written: WrittenHead;
  #last: Promise<void> = Promise.resolve();

  constructor(bucket: Bucket, { log, every = 20_000 }: BucketLeaseOptions, taken: WrittenHead) {
    [this.#bucket, this.#written] = [bucket, taken];
    [this.epoch, this.token] = [taken.head.epoch, taken.head.owner?.id ?? ""];
    let isWarned = false;
    const warn = (error: unknown) => {
      if (!isWarned && !this.lost.aborted) log("warn", `a heartbeat could not be written: ${problemText(error)}`);
      isWarned = true;
    };
    const beat = async () => {
      await this.confirm();
      isWarned = false;
    };
    this.#endHeartbeat = startHeartbeat(every, () => beat().catch(warn));
  }

  /** Aborted with a LostError once we notice that another run took over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The head as this owner last wrote it. */
  head(): Head {
    return this.#written.head;
  }

  /** The folder for the files of a run of this owner. */
  folderOf(runId: string): string {
    return runFolderOf(runId, this.epoch, this.token);
  }

  /** Adds a run to the head, which makes it a dump. Succeeds even if the answer to the write is lost. */
  commit(run: BucketRun, { isComplete }: { readonly isComplete: boolean }): Promise<void> {
    return this.#change((head) => withRun(head, run, isComplete));
  }

  /** Removes runs from the head. Their files stay. */
  dropRuns(runIds: readonly string[]): Promise<void> {
    return this.#change((head) => withoutRuns(head, runIds));
  }

  /** Rejects with LostError if the lease is lost. Checks by writing a heartbeat. */
  confirm(): Promise<void> {
    return this.#change((head) => head);
  }

  /** Releases the lease, so that the next run need not wait. Does nothing if another run took over. */
  async release(): Promise<void> {
    await this.#endHeartbeat();
    if (this.lost.aborted) return;
    await this.#change(releasedHead).catch((error: unknown) => {
      if (!(error instanceof LostError)) throw error;
    });
  }

  /** Makes changes one at a time, each based on the head that the previous change wrote. */
  #change(decide: (head: Head) => Head): Promise<void> {
    const change = this.#last.catch(() => {}).then(() => this.#write(decide));
    this.#last = change;
    return change;
  }

  async #write(decide: (head: Head) => Head): Promise<void> {
    for (let tries = 1; tries <= mostTries; tries++) {
      this.lost.throwIfAborted();
      const { head, etag } = this.#written;
      const next = withBeat(decide(head));
      const bytes = bytesOfHead(next);
      const written = await this.#bucket.put(headKey, bytes, { etag });
      if (written === "refused")
        await this.#readAgain(); // the answer to our write was lost, or another run took over
      else this.#written = { head: next, etag: written.etag };
      if (bytesOfHead(this.head()).equals(bytes)) return;
    }
    throw new BusyError(`${this.#bucket.url}/${headKey} changes all the time; is this job active elsewhere?`);
  }

  /** Reads the head again if it is still ours. If not, aborts `lost` and throws LostError. */
  async #readAgain(): Promise<void> {
    const found = await readHead(this.#bucket);
    if (found && isHeadOf(found.head, this.epoch, this.token)) {
      this.#written = found;
      return;
    }
    void this.#endHeartbeat();
    const { owner } = found?.head ?? {};
    const removed = `${this.#bucket.url}/${headKey} was removed or replaced while this run was active, so it ends`;
    const error = new LostError(
      owner ? takenOverText(`process ${owner.pid} on ${owner.host} since ${owner.since}`) : removed,
    );
    this.#lost.abort(error);
    throw error;
  }
}

/** The message that names the owner of a job, and when another run may take over. `age`: milliseconds since the last heartbeat. */
function busyText({ owner }: Head, age: number): string {
  const who = `process ${owner?.pid} on ${owner?.host} since ${owner?.since}`;
  return `another run of this job is active: ${who}. ${silenceText(age, "hold")}. Wait for its end, or end it there`;
}

/**
 * Checks that no newer owner left run folders. Returns false if the head changed since it was read. Throws StopError if a newer
 * head was removed or replaced by hand: its runs would be removed as leftovers. `etag`: of the head; undefined if there is no head.
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
