import type { RequestTally } from "../client/request-tally.js";
import type { RequestsTold } from "../run/workers/exchange-files.js";

/** Tells each request of a worker to its runs once: with the first result after it. */
export class ToldRequests {
  readonly #tally: RequestTally;
  #told: RequestsTold = { sent: 0, answered: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} };

  constructor(tally: RequestTally) {
    this.#tally = tally;
  }

  /** All requests that the worker has sent. */
  get sent(): number {
    return this.#tally.sent;
  }

  /** Answered requests since the last call of `take`. */
  get untold(): number {
    return this.#tally.answered - this.#told.answered;
  }

  /** The requests since the last call. */
  take(): RequestsTold {
    const before = this.#told;
    const { sent, answered, retried, throttled, bytes, retriedBy } = this.#tally;
    this.#told = { sent, answered, retried, throttled, bytes, retriedBy: { ...retriedBy } };
    const since = Object.entries(retriedBy).map(([reason, times]) => [reason, times - (before.retriedBy[reason] ?? 0)]);
    return {
      sent: sent - before.sent,
      answered: answered - before.answered,
      retried: retried - before.retried,
      throttled: throttled - before.throttled,
      bytes: bytes - before.bytes,
      retriedBy: Object.fromEntries(since),
    };
  }
}
