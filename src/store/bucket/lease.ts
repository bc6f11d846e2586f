import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { BusyError, LostError, StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";
import type { Bucket, Condition, Written } from "./bucket.js";
import {
  type BucketOwner,
  type BucketRun,
  bytesOfHead,
  deadAfter,
  emptyHead,
  folderOfKey,
  type Head,
  headFrom,
  headKey,
  isHeadOf,
  mayTakeOver,
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
  /** Facts of the process that takes the job, which its own machine can check; by default its pid and host. */
  readonly owner?: BucketOwner;
  /** Whether the process of an owner is proved dead, so that there is no wait for a heartbeat. */
  readonly isDead?: (owner: BucketOwner) => Promise<boolean>;
  /** The store ignores conditions, and the user allows that: two runs at once may then undo each other's changes. */
  readonly unsafe?: boolean;
  /** Milliseconds between two heartbeats; 20 s by default. */
  readonly every?: number;
}

/** The hold of a job in a bucket. Every change is one conditional write; LostError where another has taken over. */
export interface BucketLease {
  /** Higher than that of every holder before. */
  readonly epoch: number;
  /** The id of this hold, a UUID. */
  readonly token: string;
  /** Aborted with a LostError as soon as it is known that another took over. */
  readonly lost: AbortSignal;
  /** The head as this holder wrote it last. */
  readonly head: () => Head;
  /** The folder for the files of a run of this holder: `runs/<run_id>.<epoch>-<first 8 of the token>`. */
  readonly folderOf: (runId: string) => string;
  /** Lists a run: from then on it is a dump. Reconciled even where the answer is lost. */
  readonly commit: (run: BucketRun, options: { readonly isComplete: boolean }) => Promise<void>;
  /** Takes runs off the list; their files stay. */
  readonly dropRuns: (runIds: readonly string[]) => Promise<void>;
  /** Rejects with LostError unless the job is still held: a change of the head that changes nothing else. */
  readonly confirm: () => Promise<void>;
  /** Lets go, so that the next run need not wait. Does nothing where another has taken over. */
  readonly release: () => Promise<void>;
}

/** Tries of one change: those before it only found that an earlier change of this holder had taken place. */
const mostTries = 5;

/**
 * Takes the job whose place the bucket is. BusyError while another holder sends heartbeats: its head has changed in the last
 * two minutes, by the clock of the store, was not released, and its process is not proved dead. StopError where the head was removed
 * or replaced by hand.
 */
export async function leaseInBucket(bucket: Bucket, options: BucketLeaseOptions): Promise<BucketLease> {
  const { isDead = async () => false } = options;
  const since = options.now().toISOString();
  const unknown = { id: randomUUID(), host: hostname(), pid: process.pid, since, released: false };
  const owner: BucketOwner = options.owner ?? unknown;
  const replace = replaceFor(bucket, options.unsafe ?? false);
  const headUrl = `${bucket.url}/${headKey}`;
  for (let tries = 1; tries <= mostTries; tries++) {
    const found = await bucket.read(headKey);
    const head = found ? headFrom(found.bytes, headUrl) : emptyHead;
    if (found && head.owner?.id === owner.id) return new Held(bucket, options, replace, head, found.etag);
    const isFree = !found || mayTakeOver(head, found.age) || (head.owner !== null && (await isDead(head.owner)));
    if (!isFree) throw new BusyError(busyText(head, found.age));
    if (!(await isNewestHead(bucket, head, found?.etag))) continue;
    const next = takenOver(head, owner);
    const written = await replace(headKey, bytesOfHead(next), found ? { etag: found.etag } : "absent");
    if (written !== "refused") return new Held(bucket, options, replace, next, written.etag);
  }
  throw new BusyError("another run of this job is at work: others change head.json all the time. Start again later");
}

class Held implements BucketLease {
  readonly epoch: number;
  readonly token: string;
  readonly #bucket: Bucket;
  readonly #log: Log;
  readonly #replace: ReplaceObject;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #head: Head;
  #etag: string;
  #last: Promise<void> = Promise.resolve();
  #isBeating = false;
  #isWarned = false;

  constructor(bucket: Bucket, options: BucketLeaseOptions, replace: ReplaceObject, head: Head, etag: string) {
    [this.#bucket, this.#log, this.#replace] = [bucket, options.log, replace];
    [this.#head, this.#etag] = [head, etag];
    [this.epoch, this.token] = [head.epoch, head.owner?.id ?? ""];
    this.#timer = setInterval(() => void this.#beat(), options.every ?? 20_000).unref();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  head(): Head {
    return this.#head;
  }

  folderOf(runId: string): string {
    return runFolderOf(runId, this.epoch, this.token);
  }

  commit(run: BucketRun, { isComplete }: { readonly isComplete: boolean }): Promise<void> {
    return this.#change((head) => withRun(head, run, isComplete));
  }

  dropRuns(runIds: readonly string[]): Promise<void> {
    return this.#change((head) => withoutRuns(head, runIds));
  }

  confirm(): Promise<void> {
    return this.#change((head) => head);
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.lost.aborted) return;
    await this.#change(releasedHead).catch((error: unknown) => {
      if (!(error instanceof LostError)) throw error;
    });
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      await this.#change((head) => head);
      this.#isWarned = false;
    } catch (error) {
      if (!this.lost.aborted && !this.#isWarned)
        this.#log("warn", `a sign of life could not be written: ${problemText(error)}`);
      this.#isWarned = true;
    } finally {
      this.#isBeating = false;
    }
  }

  /** Makes changes one after another, each from the head that the one before left. */
  #change(decide: (head: Head) => Head): Promise<void> {
    const change = this.#last.catch(() => {}).then(() => this.#write(decide));
    this.#last = change;
    return change;
  }

  async #write(decide: (head: Head) => Head): Promise<void> {
    for (let tries = 1; tries <= mostTries; tries++) {
      this.lost.throwIfAborted();
      const next = withBeat(decide(this.#head));
      const written = await this.#replace(headKey, bytesOfHead(next), { etag: this.#etag });
      if (written !== "refused") {
        [this.#head, this.#etag] = [next, written.etag];
        return;
      }
      await this.#readAgain(); // an answer of ours was lost, or another took over
      if (bytesOfHead(this.#head).equals(bytesOfHead(next))) return;
    }
    throw new BusyError(`${this.#bucket.url}/${headKey} changes all the time; is this job at work elsewhere?`);
  }

  /** Takes the head that is there if it is still ours. LostError, and `lost` is aborted, where it is not. */
  async #readAgain(): Promise<void> {
    const url = `${this.#bucket.url}/${headKey}`;
    const found = await this.#bucket.read(headKey);
    const head = found && headFrom(found.bytes, url);
    if (found && head && isHeadOf(head, this.epoch, this.token)) {
      [this.#head, this.#etag] = [head, found.etag];
      return;
    }
    clearInterval(this.#timer);
    const error = new LostError(lostText(head, url));
    this.#lost.abort(error);
    throw error;
  }
}

/** Says who holds a job, and when another may take it over. `age`: milliseconds since its last heartbeat. */
function busyText({ owner }: Head, age: number): string {
  const [seen, left] = [age, deadAfter - age].map((time) => Math.ceil(time / 1000));
  const who = `process ${owner?.pid} on ${owner?.host} since ${owner?.since}`;
  return `another run of this job is at work: ${who}. It gave its last sign of life ${seen} s ago; without another one, its hold is taken over in ${left} s. Wait for its end, or end it there`;
}

/** Says why a run ends that does not hold its job any more. `head`: the one that is there; `url`: where it is. */
function lostText(head: Head | undefined, url: string): string {
  if (!head?.owner) return `${url} was removed or replaced while this run was at work, so it ends`;
  const { pid, host, since } = head.owner;
  return `this job was taken over by process ${pid} on ${host} since ${since}: this run gave no sign of life for two minutes. This run ends; the other one goes on`;
}

/** Writes an object if the condition holds. */
type ReplaceObject = (key: string, bytes: Buffer, condition: Condition) => Promise<Written>;

/**
 * Leaves conditions to the store. `unsafe`, where the store ignores them: looks at the object before it writes, so that a change
 * between the two goes unseen.
 */
function replaceFor(bucket: Bucket, unsafe: boolean): ReplaceObject {
  if (!unsafe) return bucket.put;
  return async (key, bytes, condition) => {
    const found = await bucket.read(key);
    if (found?.etag !== (condition === "absent" ? undefined : condition.etag)) return "refused";
    return bucket.put(key, bytes);
  };
}

/**
 * Makes sure that no holder came after the one that this head names. StopError where one did, and its head is gone: the runs that it
 * listed would count as left behind, and be removed. False where another has changed the head since it was read. `etag`: that of the
 * head; undefined where there is none.
 */
async function isNewestHead(bucket: Bucket, { epoch }: Head, etag: string | undefined): Promise<boolean> {
  const newer = await folderAfter(bucket, epoch);
  if (newer === undefined) return true;
  if ((await bucket.read(headKey))?.etag !== etag) return false;
  const problem = `${bucket.url}/${headKey} was removed or replaced by hand: ${bucket.url}/${newer} is newer`;
  throw new StopError(
    `${problem}. Bring back the last version of ${headKey}; or, if you do not need them, remove the folders in ${bucket.url}/runs that it does not list`,
  );
}

/** The folder of a run whose holder came after this epoch; undefined where there is none. */
async function folderAfter(bucket: Bucket, epoch: number): Promise<string | undefined> {
  for await (const name of bucket.folders("runs/")) {
    const location = folderOfKey(`runs/${name}/`);
    if (location && location.epoch > epoch) return location.folder;
  }
  return undefined;
}
