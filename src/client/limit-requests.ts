import pLimit from "p-limit";
import type { RetryError } from "../errors.js";
import type { Pace } from "./pace.js";
import type { Answer, Send } from "./retry.js";

interface LimitOptions extends WaitOptions {
  /** Maximum requests in flight. */
  readonly concurrency: number;
  readonly pace: Pace;
  /** Called when all requests pause after a refusal, with the length of the pause in milliseconds. */
  readonly onPause?: ((milliseconds: number) => void) | undefined;
  /** Returns the error if the service refused the request because there were too many; otherwise undefined. */
  readonly refusal: (answer: Answer) => Pick<RetryError, "retryAfter"> | undefined;
}

/**
 * Enforces the concurrency limit and the pace. A rate limit of the service halves the concurrency; after one good answer per slot,
 * it grows by one. Requests are sent in order. A slot is free once the body is received.
 */
export function limitRequests(send: Send, options: LimitOptions): Send {
  const { concurrency, pace, refusal, now } = options;
  const limit = pLimit(concurrency);
  let good = 0;
  const setLimit = (bound: number) => {
    good = 0;
    limit.concurrency = Math.max(1, Math.min(concurrency, bound));
  };
  const learn = (answer: Answer, sentAt: number) => {
    const refused = refusal(answer);
    if (!refused) {
      pace.accepted(sentAt, now());
      if (answer.status === 200 && ++good >= limit.concurrency) setLimit(limit.concurrency + 1);
      return;
    }
    const before = pace.pauseLeft(now());
    const cause = pace.refused(sentAt, now(), refused.retryAfter);
    if (pace.pauseLeft(now()) > before) options.onPause?.(pace.pauseLeft(now()));
    if (cause === "limit") setLimit(limit.concurrency >> 1);
  };
  return (request) =>
    limit(async () => {
      await waitForPace(pace, options);
      const sentAt = now();
      const answer = await send(request);
      learn(answer, sentAt);
      return answer;
    });
}

export interface WaitOptions {
  /** Aborting it ends the wait. */
  readonly signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Waits until the pace allows one more request. */
export async function waitForPace(pace: Pace, { signal, now, sleep }: WaitOptions): Promise<void> {
  for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
    signal.throwIfAborted();
    await sleep(wait, signal).catch(() => signal.throwIfAborted());
  }
}
