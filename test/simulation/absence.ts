import type { Answer } from "../../src/client/retry.js";
import { RetryError } from "../../src/errors.js";
import type { Call, SendEnd } from "./calls.js";

/** How many requests in a row, or how many pages, must fail until the service, not just one page, counts as down. */
const outage = 3;

/**
 * Detects outages from the traffic, by the rules in docs/requests.md: the connection is reset, or a proxy immediately answers 502, 503
 * or 504 without Retry-After. A timeout counts only if the service was already down when the request was sent. Once the service has
 * answered, one page that keeps failing is not an outage.
 */
export class Absence {
  #inARow = 0;
  #isReached = false;
  readonly #places = new Set<string>();

  /** Whether a failed request costs no try, because the service is down. */
  get isOutage(): boolean {
    return this.#places.size >= outage || (!this.#isReached && this.#inARow >= outage);
  }

  /** Says how an answered request ended. Every simulated proxy answers immediately. */
  answered(call: Call, { status, headers, body }: Answer): SendEnd {
    const asksForPause = headers["retry-after"] !== undefined;
    if (status >= 502 && status <= 504 && !asksForPause) return this.#gone(call);
    this.#isReached = true;
    this.#inARow = 0;
    this.#places.clear();
    const isRefusal = status === 429 || (status === 403 && Buffer.from(body).includes("rate limit"));
    return isRefusal && !asksForPause ? "refused" : "other";
  }

  /** Says how a request without an answer ended, from its error. `wasOutage`: the service was down when the request was sent. */
  unanswered(call: Call, error: unknown, wasOutage: boolean): SendEnd {
    const isReset = error instanceof RetryError && error.trouble === "gone";
    return isReset || wasOutage ? this.#gone(call) : "other";
  }

  #gone(call: Call): SendEnd {
    this.#inARow++;
    this.#places.add(placeOf(call));
    return this.isOutage ? "away" : "other";
  }
}

/** Identifies a page. Requests for its halves count as the same page. */
function placeOf({ target, page, limit }: Call): string {
  return `${target.split("?")[0]} ${Math.floor(((page - 1) * limit) / 100)}`;
}
