/** Counts how often each case occurred. A check that never runs proves nothing. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  met(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
