/** Smoothing of latencies: the weight of a new one. */
const weight = 0.2;
/** Answers after which a change of the bound has shown its effect. */
const patience = 25;
/** A latency is slow above this many times what it was, and so many milliseconds more. */
const slowFactor = 3;
const slowExtra = 250;

interface Latency {
  smoothed: number;
  /** The estimated latency of the service without load. */
  normal: number;
}

/**
 * How many requests may be in flight: halved by a refusal, a quarter less when the latency grows with the number in flight,
 * and one more for as many good answers as there may be in flight. Never above its maximum, never below 1.
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

  /** A good answer after so many milliseconds; latencies are compared among requests of one kind. */
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

  /** Fewer in flight; where that changes nothing, the service is just slower now than it was. */
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
