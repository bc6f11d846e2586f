/** A process that waits on the clock. The timers of a dead process never fire. */
export interface Waiting {
  readonly alive: boolean;
}

interface Timer {
  readonly at: number;
  readonly owner: Waiting;
  readonly go: () => void;
  cancelled: boolean;
}

/** Deadlock: a promise is not settled, but no timer is left. */
export class StandstillError extends Error {}

/** A simulated clock. When no other work is left, it jumps to the next timer. */
export class SimulatedClock {
  now = 0;
  /** Sorted; the next timer is last. */
  readonly #timers: Timer[] = [];

  /** Rejects with the signal's reason as soon as the signal is aborted. */
  sleep(milliseconds: number, owner: Waiting, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = () => {
        timer.cancelled = true;
        if (owner.alive) reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = { at: this.now + Math.max(0, milliseconds), owner, go, cancelled: false };
      this.#insert(timer);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  /** Advances time until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)); // lets all work that waits for no timer finish
      if (settled) return promise;
      const timer = this.#next();
      if (!timer) throw new StandstillError("nothing can happen any more, and the run has not ended");
      this.now = timer.at;
      timer.go();
    }
  }

  #insert(timer: Timer): void {
    let [low, high] = [0, this.#timers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#timers[middle]?.at ?? 0) > timer.at) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
  }

  #next(): Timer | undefined {
    for (let timer = this.#timers.pop(); timer; timer = this.#timers.pop()) {
      if (timer.owner.alive && !timer.cancelled) return timer;
    }
    return undefined;
  }
}
