import type { Answer } from "../../src/client/send.js";
import { RetryError } from "../../src/errors.js";
import type { Call, SendEnd } from "./calls.js";

/** Requests in a row, or different pages, for which the service was gone: then it is no fault of one page. */
const outage = 3;

/**
 * Knows from the wire when the service is gone, as docs/requests.md tells it: the connection is reset, or a proxy answers 502, 503 or
 * 504 at once and asks for no pause. Silence alone is no sign of that, except of a service that was gone before the request was sent.
 * Once the service has answered, a single page that keeps failing is no outage.
 */
export class Absence {
  #inARow = 0;
  #isReached = false;
  readonly #places = new Set<string>();

  /** Whether requests cost no try now if the service stays gone. */
  get isOutage(): boolean {
    return this.#places.size >= outage || (!this.#isReached && this.#inARow >= outage);
  }

  /** Looks at an answer; every simulated proxy answers at once. */
  answered(call: Call, { status, headers, body }: Answer): SendEnd {
    const asksForPause = headers["retry-after"] !== undefined;
    if (status >= 502 && status <= 504 && !asksForPause) return this.#gone(call);
    this.#isReached = true;
    this.#inARow = 0;
    this.#places.clear();
    const isRefusal = status === 429 || (status === 403 && Buffer.from(body).includes("rate limit"));
    return isRefusal && !asksForPause ? "refused" : "other";
  }

  /** Looks at the error of a request without an answer; `wasOutage` when it was sent. */
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

/** A page and its halves are one place. */
function placeOf({ target, page, limit }: Call): string {
  return `${target.split("?")[0]} ${Math.floor(((page - 1) * limit) / 100)}`;
}
