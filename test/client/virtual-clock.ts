/** A clock that jumps from timer to timer: no real time passes. */
export class VirtualClock {
  now = 0;
  readonly #timers: { at: number; go: () => void }[] = [];

  readonly sleep = (milliseconds: number): Promise<void> =>
    new Promise((go) => {
      const at = this.now + milliseconds;
      const place = this.#timers.findIndex((timer) => timer.at > at);
      this.#timers.splice(place < 0 ? this.#timers.length : place, 0, { at, go });
    });

  /** Lets time pass until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    while (!settled) {
      await new Promise((resolve) => setImmediate(resolve)); // all that can happen now has happened
      const timer = settled ? undefined : this.#timers.shift();
      if (!timer) continue;
      this.now = timer.at;
      timer.go();
    }
    return promise;
  }
}
