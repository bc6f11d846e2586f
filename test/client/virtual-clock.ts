/** After this many steps, the clock waits for a full turn of the event loop, so that streams and sockets can do their work too. */
const breath = 64;

/** A clock that jumps from timer to timer: no real time passes. */
export class VirtualClock {
  now = 0;
  readonly #timers: { at: number; go: () => void }[] = [];

  readonly sleep = (milliseconds: number): Promise<void> =>
    new Promise((go) => {
      const at = this.now + milliseconds;
      const place = this.#timers.findLastIndex((timer) => timer.at <= at);
      this.#timers.splice(place + 1, 0, { at, go });
    });

  /** Advances the time until the promise settles. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    for (let step = 1; !settled; step++) {
      const isLong = step % breath === 0 || this.#timers.length === 0;
      await new Promise<void>((resolve) => (isLong ? setImmediate(resolve) : process.nextTick(resolve))); // runs after all promises that are already settled
      const timer = settled ? undefined : this.#timers.shift();
      if (!timer) continue;
      this.now = timer.at;
      timer.go();
    }
    return promise;
  }
}
