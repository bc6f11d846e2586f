/** Milliseconds that a rate is taken over. */
const span = 10_000;

/** The rate of something that is counted up, over the last ten seconds: a worker may have waited for days before. */
export class RecentRate {
  #samples: readonly { readonly elapsed: number; readonly count: number }[] = [{ elapsed: 0, count: 0 }];

  /** Counts a second; `elapsed` is in milliseconds, and never goes back. */
  at(elapsed: number, count: number): number {
    const recent = this.#samples.filter((sample) => sample.elapsed >= elapsed - span);
    const samples = recent.length > 0 ? recent : this.#samples.slice(-1);
    this.#samples = [...samples, { elapsed, count }];
    const [from = { elapsed, count }] = samples;
    return elapsed > from.elapsed ? ((count - from.count) * 1_000) / (elapsed - from.elapsed) : 0;
  }
}
