/** Ends a request in which nothing comes for so many seconds, or when everything ends. */
export class Silence {
  readonly #seconds: number;
  readonly #controller = new AbortController();
  readonly #all: AbortSignal;
  readonly #end = () => this.#controller.abort(this.#all.reason);

  /** `all` ends every request. */
  constructor(seconds: number, all: AbortSignal) {
    this.#seconds = seconds;
    this.#all = all;
    if (all.aborted) this.#end();
    all.addEventListener("abort", this.#end, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the next bytes; time in which nobody asks for some does not count. */
  async during<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#controller.abort(new SilenceError(this.#seconds)), this.#seconds * 1000);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the request, if it is not over yet. */
  end(): void {
    this.#all.removeEventListener("abort", this.#end);
    this.#controller.abort();
  }
}

class SilenceError extends Error {
  readonly code = "TIMEOUT";
  constructor(seconds: number) {
    super(`nothing came for ${seconds} s`);
  }
}
