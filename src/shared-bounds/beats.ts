/** Milliseconds between two beats, and the least of them where there is something to do. */
const usual = 1_000;
const least = 20;

/** Does something about every second, and at once where that is asked for; never twice at the same time. */
export class Beats {
  readonly #beat: () => Promise<"again" | "rest">;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #isAsked = false;
  #isEnded = false;

  /** `beat` says whether another one follows; it never rejects. */
  constructor(beat: () => Promise<"again" | "rest">) {
    this.#beat = beat;
  }

  /** Beats as soon as possible. */
  ask(): void {
    this.#isAsked = true;
    if (!this.#running) this.#plan(Math.max(0, this.#lastEnd + least - performance.now()));
  }

  /** Ends, once a beat under way is over. */
  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #plan(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (!this.#isEnded) this.#timer = setTimeout(() => this.#start(), milliseconds);
  }

  #start(): void {
    this.#isAsked = false;
    this.#running = this.#beat().then((next) => {
      this.#running = undefined;
      this.#lastEnd = performance.now();
      if (this.#isAsked) this.#plan(least);
      else if (next === "again") this.#plan(usual);
    });
  }
}
