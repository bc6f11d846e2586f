import type { Job as QueuedBatch } from "bullmq";
import { lockTime } from "./queue.js";

/** Milliseconds between two renewals. */
const renewEvery = 1_500;
/** Milliseconds before its end from which on a lock does not count any more. */
const margin = 500;

/** The lock of a batch was lost, or may have been. The coordinator hands its documents out again. */
class LostLockError extends Error {}

const lost = "the lock of these documents was lost";

/**
 * The lock that gives a batch to this worker. It is renewed until it is disposed of. When it may have run out, because the broker did not
 * answer in time, it ends all requests of the batch.
 */
export class BatchLock {
  readonly #batch: Pick<QueuedBatch, "extendLock">;
  readonly #token: string;
  readonly #ends = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt = moment();
  #isRenewing = false;

  private constructor(batch: Pick<QueuedBatch, "extendLock">, token: string) {
    this.#batch = batch;
    this.#token = token;
    this.#timer = setInterval(() => this.#beat(), renewEvery / 3);
  }

  /** Renews the lock that the queue gave with a batch. Rejects if it is lost already. */
  static async hold(batch: Pick<QueuedBatch, "extendLock">, token: string): Promise<BatchLock> {
    const lock = new BatchLock(batch, token);
    if (await lock.#renew()) return lock;
    await lock[Symbol.asyncDispose]();
    throw new LostLockError(lost);
  }

  /** Aborted when the lock is lost, or may be. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  /** Throws if the lock may be lost. A process that was frozen learns it here. */
  readonly requireHeld = (): void => {
    if (since(this.#renewedAt) > lockTime - margin) this.#lose();
    this.signal.throwIfAborted();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
  }

  #beat(): void {
    if (since(this.#renewedAt) > lockTime - margin) this.#lose();
    else if (since(this.#renewedAt) >= renewEvery && !this.#isRenewing) void this.#renew();
  }

  /** Counts from before the request, so that the broker keeps the lock for longer than this process believes. */
  async #renew(): Promise<boolean> {
    this.#isRenewing = true;
    const asked = moment();
    try {
      const isHeld = (await this.#batch.extendLock(this.#token, lockTime)) === 1;
      if (isHeld) this.#renewedAt = asked;
      else this.#lose();
      return isHeld;
    } catch {
      return false; // it is tried again until it may have run out
    } finally {
      this.#isRenewing = false;
    }
  }

  #lose(): void {
    this.#ends.abort(new LostLockError(lost));
  }
}

/** A moment on both clocks of this machine: the steady one stands still while the machine sleeps, the other one can be set. */
interface Moment {
  readonly steady: number;
  readonly wall: number;
}

function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

function since({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}
