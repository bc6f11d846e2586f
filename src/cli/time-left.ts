import type { ProgressFacts } from "./log-schema.js";

/** The progress of a task. All long tasks use this one type. */
export interface Progress {
  readonly step: string;
  readonly done: number;
  /** How much there is to do. Undefined: not known yet. Infinity: the task has no end. */
  readonly of: number | undefined;
  readonly unit: ProgressFacts["unit"];
  /** The number to compute the rate from, if it is not `done`. */
  readonly counted?: number;
  /** Other counts to show, most important first. */
  readonly counts?: readonly Count[];
  /** A remark that follows the counts. */
  readonly note?: string | undefined;
  readonly requests?: {
    readonly sent: number;
    readonly inFlight: number;
    /** Milliseconds without an answer; undefined if too short to mention. */
    readonly silent: number | undefined;
  };
}

/** A count, for example of documents, and how many there are. */
export interface Count {
  readonly noun: string;
  readonly done: number;
  readonly of?: number;
}

/** A progress with everything that is computed from it: its share, rate and remaining time. */
export interface Measured extends Progress {
  /** The share that is done, from 0 to 1; undefined if unknown. */
  readonly share: number | undefined;
  /** Milliseconds left; undefined if unknown, and while answers are missing. */
  readonly left: number | undefined;
  /** Recent units per second. */
  readonly rate: number;
}

/** Measures the speed of a task from the moment when its size is known. */
export class Pace {
  #rate = new RecentRate();
  #begun: { readonly unit: string; readonly done: number; readonly elapsed: number } | undefined;

  measure(progress: Progress, elapsed: number): Measured {
    const { done, of, unit, counted } = progress;
    if (of === undefined || of === Number.POSITIVE_INFINITY) {
      this.#begun = undefined;
      return { ...progress, rate: this.#rate.at(elapsed, counted ?? done), share: undefined, left: undefined };
    }
    if (this.#begun?.unit !== unit || done < this.#begun.done) {
      this.#begun = { unit, done, elapsed };
      if (counted === undefined) this.#rate = new RecentRate(); // measures from now on, because an earlier process may have done a part
    }
    const rate = this.#rate.at(elapsed, counted ?? done);
    const advance = done - this.#begun.done;
    const isKnown =
      progress.requests?.silent === undefined && elapsed > this.#begun.elapsed && advance > 0 && advance >= of / 200;
    return {
      ...progress,
      rate,
      share: of > 0 ? Math.min(1, done / of) : 1,
      left: isKnown ? (Math.max(0, of - done) * (elapsed - this.#begun.elapsed)) / advance : undefined,
    };
  }
}

/** Milliseconds over which to measure a rate. */
const span = 10_000;

/** The rate of a growing number over the last ten seconds. Starts over when the number shrinks. */
export class RecentRate {
  #samples: readonly { readonly elapsed: number; readonly count: number }[] = [];

  /** The current rate, in counts per second. `elapsed` is in milliseconds and never decreases. */
  at(elapsed: number, count: number): number {
    const recent = this.#samples.filter((sample) => sample.elapsed >= elapsed - span);
    const samples = recent.length > 0 ? recent : this.#samples.slice(-1);
    const [from = { elapsed, count }] = samples;
    const isLess = count < (samples.at(-1)?.count ?? 0);
    this.#samples = isLess ? [{ elapsed, count }] : [...samples, { elapsed, count }];
    return elapsed > from.elapsed && !isLess ? ((count - from.count) * 1_000) / (elapsed - from.elapsed) : 0;
  }
}
