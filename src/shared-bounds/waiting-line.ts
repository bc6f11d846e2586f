/** Requests that wait for something, in the order they came. */
export class WaitingLine<T> {
  #waiting: ((value: T) => void)[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves once it is served. Rejects with the reason of the signal. */
  join(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const serve = (value: T) => {
        signal.removeEventListener("abort", end);
        resolve(value);
      };
      const end = () => {
        this.#waiting = this.#waiting.filter((other) => other !== serve);
        reject(signal.reason);
      };
      signal.addEventListener("abort", end, { once: true });
      this.#waiting.push(serve);
    });
  }

  serve(value: T): void {
    this.#waiting.shift()?.(value);
  }
}
