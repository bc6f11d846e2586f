import type { Job as QueuedBatch } from "bullmq";
import { lockTime } from "./queue.js";

/** Milliseconds between two renewals. */
const renewEvery = 1_500;
/** How many milliseconds before it expires a lock counts as lost. */
const margin = 500;

/** The error if the lock was lost, or may be. The coordinator hands out the documents again. */
const lost = () => new Error("the lock of these documents was lost");

/**
 * Keeps the lock that gives a batch to this worker, and renews it until disposed. If the lock may have expired, because the broker
 * did not answer in time, aborts all requests of the batch.
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

  /** Renews the lock that came with a batch from the queue. Rejects if it is already lost. */
  static async hold(batch: Pick<QueuedBatch, "extendLock">, token: string): Promise<BatchLock> {
    const lock = new BatchLock(batch, token);
    if (await lock.#renew()) return lock;
    await lock[Symbol.asyncDispose]();
    throw lost();
  }

  /** Aborted if the lock is lost, or may be. */
  get signal(): AbortSignal {
    return this.#ends.signal;
  }

  /** Throws if the lock may be lost. Call it before each step that matters: a process that was frozen learns of the loss only here. */
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

  /**
   * Renews the lock; returns whether the broker did. The new time counts from before the request, so the broker never ends the lock
   * earlier than this process expects.
   */
  async #renew(): Promise<boolean> {
    this.#isRenewing = true;
    const asked = moment();
    try {
      const isHeld = (await this.#batch.extendLock(this.#token, lockTime)) === 1;
      if (isHeld) this.#renewedAt = asked;
      else this.#lose();
      return isHeld;
    } catch {
      return false; // the next beat tries again
    } finally {
      this.#isRenewing = false;
    }
  }

  #lose(): void {
    this.#ends.abort(lost());
  }
}

/**
 * A time on both clocks of this machine. The larger difference counts, because the steady clock stops while the machine sleeps, and
 * the wall clock can be set.
 */
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
