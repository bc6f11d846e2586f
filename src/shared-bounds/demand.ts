/** Milliseconds for which a demand counts after it has gone. */
const window = 1_000;

/** How many places a process has use for: the most in the last one to two seconds, so that short breaks cost none. Pure. */
export class Demand {
  readonly #most: number;
  #windowStart = 0;
  #highest = 0;
  #highestBefore = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;

  /** `most`: the places of the service. */
  constructor(most: number) {
    this.#most = most;
  }

  /** So many requests are in flight or wait. */
  note(requests: number, now: number): void {
    this.#roll(now);
    this.#highest = Math.max(this.#highest, requests);
  }

  /** The rate holds a request back: every place brings more of it. */
  slowed(now: number): void {
    this.#slowedAt = now;
  }

  at(now: number): number {
    this.#roll(now);
    const highest = Math.max(this.#highest, this.#highestBefore);
    const isSlowed = now - this.#slowedAt < 2 * window;
    return highest > 0 && isSlowed ? this.#most : Math.min(this.#most, highest);
  }

  #roll(now: number): void {
    if (now - this.#windowStart < window) return;
    this.#highestBefore = now - this.#windowStart < 2 * window ? this.#highest : 0;
    this.#highest = 0;
    this.#windowStart = now;
  }
}
