/** The weight of a new latency in the moving average. */
const weight = 0.2;
/** Good answers to wait before judging the effect of a change. */
const patience = 25;
/** A latency is slow above this multiple of the normal latency, plus some milliseconds. */
const slowFactor = 3;
const slowExtra = 250;

interface Latency {
  smoothed: number;
  /** The estimated latency without load. */
  normal: number;
}

/**
 * The concurrency limit: halved after a refusal, cut by a quarter when latency grows with load, and raised by one after as many
 * good answers as its current value. At least 1, at most its maximum.
 */
export class InFlightBound {
  readonly #max: number;
  #bound: number;
  #good = 0;
  #sinceChange = 0;
  /** The smoothed latency when the limit was last lowered, to check whether that helped. */
  #loweredAt: number | undefined;
  readonly #latencies = new Map<string, Latency>();

  constructor(max: number) {
    this.#max = max;
    this.#bound = max;
  }

  get value(): number {
    return this.#bound;
  }

  refused(): void {
    this.#set(Math.floor(this.#bound / 2));
  }

  /** Reports a good answer and its latency. Latencies are compared only within one kind of request. */
  answered(kind: string, milliseconds: number): void {
    const latency = this.#latencies.get(kind) ?? { smoothed: milliseconds, normal: milliseconds };
    latency.smoothed += weight * (milliseconds - latency.smoothed);
    latency.normal = Math.min(latency.normal, latency.smoothed);
    this.#latencies.set(kind, latency);
    this.#good++;
    this.#sinceChange++;
    if (latency.smoothed > slowFactor * latency.normal + slowExtra) this.#yield(latency);
    else if (this.#good >= this.#bound) this.#set(this.#bound + 1);
  }

  /**
   * Lowers the limit. If the last reduction did not help, the service itself has become slower, and this latency becomes the
   * normal one.
   */
  #yield(latency: Latency): void {
    if (this.#sinceChange < patience) return;
    if (this.#loweredAt !== undefined && latency.smoothed > 0.9 * this.#loweredAt) {
      latency.normal = latency.smoothed;
      this.#loweredAt = undefined;
      return;
    }
    this.#set(this.#bound - Math.ceil(this.#bound / 4));
    this.#loweredAt = latency.smoothed;
  }

  #set(bound: number): void {
    this.#bound = Math.max(1, Math.min(this.#max, bound));
    this.#good = 0;
    this.#sinceChange = 0;
    this.#loweredAt = undefined;
  }
}
