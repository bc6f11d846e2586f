import { type Answer, errorAnswer, htmlAnswer } from "./answer.js";

/** A rate limit with a sliding window. Refused requests count too, so a client that does not slow down stays locked out. */
export interface RateLimit {
  /** Maximum requests per second. Alternatively, `max` per `window` milliseconds. */
  readonly perSecond?: number;
  readonly max?: number;
  readonly window?: number;
  /**
   * 429: HTML without Retry-After. 429-seconds, 429-date: JSON, Retry-After in seconds or as a date, rounded up.
   * 403-sentence: the plan limit, which only the message shows. 503: HTML, Retry-After in seconds.
   */
  readonly answer: "429" | "429-seconds" | "429-date" | "403-sentence" | "503";
}

const sentence = "Sorry, you have reached the knowledge base request rate limit of your subscription.";

/** The arrivals in a sliding window. */
export class RateWindow {
  #arrivals: number[] = [];

  /** Counts an arrival at `now` (ms). Returns the wait until another request is allowed (ms); 0: this one is allowed. */
  arrive(limit: RateLimit, now: number): number {
    const window = limit.perSecond === undefined ? (limit.window ?? 60_000) : 1_000;
    const max = limit.perSecond ?? limit.max ?? Number.POSITIVE_INFINITY;
    const first = this.#arrivals.findIndex((at) => at > now - window);
    this.#arrivals = first < 0 ? [] : this.#arrivals.slice(first);
    this.#arrivals.push(now);
    if (this.#arrivals.length <= max) return 0;
    const lastInTheWay = this.#arrivals[this.#arrivals.length - Math.max(1, max)] ?? now;
    return lastInTheWay + window - now;
  }

  clear(): void {
    this.#arrivals = [];
  }
}

/** The refusal at `now` (ms since 1970) of a request that must wait `wait` ms. */
export function refusalAnswer(limit: RateLimit, wait: number, now: number): Answer {
  const seconds = String(Math.ceil(wait / 1_000));
  const tooMany = errorAnswer(429, "too_many_requests", "Too many requests. Please try again later.");
  switch (limit.answer) {
    case "429":
      return htmlAnswer(429, "Too Many Requests");
    case "429-seconds":
      return { ...tooMany, headers: { "retry-after": seconds } };
    case "429-date":
      return {
        ...tooMany,
        headers: { "retry-after": new Date(Math.ceil((now + wait) / 1_000) * 1_000).toUTCString() },
      };
    case "403-sentence":
      return errorAnswer(403, "forbidden", sentence);
    case "503":
      return { ...htmlAnswer(503, "Service Temporarily Unavailable"), headers: { "retry-after": seconds } };
  }
}
