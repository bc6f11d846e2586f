/** The weight of a new latency in the moving average. */
const weight = 0.2;
/** Answers after which a change of the bound shows its effect. */
const patience = 25;
/** A latency is slow above this many times the normal one plus some milliseconds. */
const slowFactor = 3;
const slowExtra = 250;

interface Latency {
  smoothed: number;
  /** The estimated latency without load. */
  normal: number;
}

/**
 * How many requests may be in flight: half after a refusal, a quarter less when latency grows with the number in flight, one more
 * after as many good answers as may be in flight. Never above its maximum, never below 1.
 */
export class InFlightBound {
  readonly #max: number;
  #bound: number;
  #good = 0;
  #sinceChange = 0;
  /** The smoothed latency at which the bound was lowered, to see whether that helped. */
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

  /** Reports a good answer and its latency; only latencies of the same kind of request are compared. */
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

  /** Lowers the bound. If that did not help the last time, the service has become slower, and that latency is the normal one now. */
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
