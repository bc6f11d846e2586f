import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { RetryError } from "../errors.js";
import type { Pace } from "./pace.js";
import type { Answer, Request, Send } from "./retry.js";

interface LimitOptions extends WaitOptions {
  /** Maximum requests in flight. */
  readonly concurrency: number;
  readonly pace: Pace;
  /** Called with the milliseconds of a pause of all requests, after a refusal. */
  readonly onPause?: ((milliseconds: number) => void) | undefined;
  /** Returns the error if the service refused the request because of too many; otherwise undefined. */
  readonly refusal: (answer: Answer) => Pick<RetryError, "retryAfter"> | undefined;
}

/**
 * Enforces the concurrency limit and the pace. A rate limit of the service halves the concurrency; after one good answer per slot,
 * it grows by one. Requests are sent in order. A slot is free once the body is received.
 */
export function limitRequests(send: Send, options: LimitOptions): Send {
  const { concurrency, pace, signal, refusal, now = () => performance.now(), sleep = pause } = options;
  const { onPause = () => {} } = options;
  const limit = pLimit(concurrency);
  let good = 0;
  const setLimit = (bound: number) => {
    good = 0;
    limit.concurrency = Math.max(1, Math.min(concurrency, bound));
  };

  const learn = (answer: Answer, sentAt: number) => {
    const refused = refusal(answer);
    const pause = pace.pauseLeft(now());
    const isLimit = refused && pace.refused(sentAt, now(), refused.retryAfter) === "limit";
    if (pace.pauseLeft(now()) > pause) onPause(pace.pauseLeft(now()));
    if (isLimit) setLimit(limit.concurrency >> 1);
    if (refused) return;
    pace.accepted(sentAt, now());
    if (answer.status === 200 && ++good >= limit.concurrency) setLimit(limit.concurrency + 1);
  };

  const sendOne = async (request: Request): Promise<Answer> => {
    await waitForPace(pace, { signal, now, sleep });
    const sentAt = now();
    const answer = await send(request);
    learn(answer, sentAt);
    return answer;
  };
  return (request) => limit(() => sendOne(request));
}

interface WaitOptions {
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Waits until the pace allows one more request. */
export async function waitForPace(
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: WaitOptions,
): Promise<void> {
  for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
    signal.throwIfAborted();
    await sleep(wait, signal).catch(() => signal.throwIfAborted());
  }
}

/** Waits for some milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}
