/** A clock for watching hours in no time: it jumps ahead when the watch sleeps until its next poll. */
export class WatchClock {
  milliseconds = Date.parse("2026-11-20T02:00:00Z");
  readonly #timeout: number | undefined;
  #end: (() => void) | undefined;
  #over = Number.POSITIVE_INFINITY;

  /** `timeout` of the watch: a sleep of this length is its deadline, every other sleep is between two polls. */
  constructor(timeout?: number) {
    this.#timeout = timeout;
  }

  readonly now = (): Date => new Date(this.milliseconds);

  readonly sleep = async (milliseconds: number): Promise<void> => {
    if (milliseconds === this.#timeout) {
      this.#over = this.milliseconds + milliseconds;
      return new Promise((resolve) => {
        this.#end = resolve;
      });
    }
    this.milliseconds += milliseconds;
    if (this.milliseconds >= this.#over) this.#end?.();
    return new Promise((resolve) => setImmediate(resolve));
  };
}
