import type { Answer } from "../../src/client/retry.js";
import type { JobShape } from "./scenario.js";

/** Milliseconds by which a request may come early, because an earlier timer was late. */
const lateness = 5;
const longestPause = 600_000;

/** Checks the requests of a process: not too many at once, not too fast, and none while the service asks to wait. */
export class Manners {
  readonly #job: JobShape;
  readonly #violated: (text: string) => void;
  #inFlight = 0;
  #sent = 0;
  #pausedUntil = 0;
  #refused = false;
  #latest = Number.NEGATIVE_INFINITY;

  constructor({ scenario, violated }: { scenario: { job: JobShape }; violated: (text: string) => void }) {
    this.#job = scenario.job;
    this.#violated = violated;
  }

  sent(now: number, target: string): void {
    const { concurrency, maxRps } = this.#job;
    this.#inFlight++;
    this.#sent++;
    if (this.#refused) this.#violated(`${target} was asked with a key that the service does not take`);
    if (this.#inFlight > concurrency) this.#violated(`${this.#inFlight} requests in flight, ${concurrency} allowed`);
    if (now < this.#pausedUntil - 0.001) {
      this.#violated(`${target} was asked ${this.#pausedUntil - now} ms before the pause was over`);
    }
    if (maxRps === undefined) return;
    // how late this request is compared with an even rate; it breaks the limit if an earlier request was much later
    const behind = now - (this.#sent * 1_000) / maxRps;
    if (behind < this.#latest - lateness - 0.001)
      this.#violated(`request ${this.#sent} was sent too early for max_rps`);
    this.#latest = Math.max(this.#latest, behind);
  }

  answered(now: number, { status, headers, body }: Answer): void {
    if (status === 401) this.#refused = true;
    const after = headers["retry-after"];
    if (after === undefined) return;
    const limited = status === 403 && Buffer.from(body).includes("rate limit");
    if (status !== 429 && status !== 503 && !limited) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + Math.min(longestPause, Number(after) * 1_000));
  }

  done(): void {
    this.#inFlight--;
  }
}
