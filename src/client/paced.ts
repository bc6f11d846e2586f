import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { Cause, Pace } from "./pace.js";
import type { Answer, Request, Send } from "./send.js";

/** Tries of a randomly refused request before its caller gets the refusal. */
const quickTries = 4;
/** The wait before the second try, relative to the duration of the first. */
const firstWait = 0.25;

interface PacedOptions extends WaitOptions {
  /** Maximum requests in flight. */
  readonly concurrency: number;
  readonly pace: Pace;
  /** Called with the milliseconds for which the service wants no requests. */
  readonly onPause?: ((milliseconds: number) => void) | undefined;
  /** Called with a random refusal whose request is repeated at once. */
  readonly onAgain?: (answer: Answer) => void;
  /** The wait that the service asks for in milliseconds, if the answer is a refusal because of too many requests. */
  readonly refusal: (answer: Answer) => { readonly retryAfter: number | undefined } | undefined;
}

/**
 * Enforces the concurrency limit and the pace, and learns from the answers: a limit of the service halves the requests in flight,
 * and after as many good answers as there may be, one more may be. Waiting requests are served in order. A slot is free once the
 * body is received. A randomly refused request keeps its slot and is repeated after a quarter of the time that the answer took,
 * doubling each time.
 */
export function paced(send: Send, options: PacedOptions): Send {
  const { concurrency, pace, signal, refusal, now = () => performance.now(), sleep = pause } = options;
  const { onAgain = () => {}, onPause = () => {} } = options;
  const limit = pLimit(concurrency);
  let good = 0;
  const setLimit = (bound: number) => {
    good = 0;
    limit.concurrency = Math.max(1, Math.min(concurrency, bound));
  };

  const learn = (answer: Answer, sentAt: number): Cause | undefined => {
    const refused = refusal(answer);
    const pause = pace.pauseLeft(now());
    const cause = refused && pace.refused(sentAt, now(), refused.retryAfter);
    if (pace.pauseLeft(now()) > pause) onPause(pace.pauseLeft(now()));
    if (cause === undefined) {
      pace.accepted(sentAt, now());
      if (answer.status === 200 && ++good >= limit.concurrency) setLimit(limit.concurrency + 1);
    } else if (cause === "limit") {
      setLimit(limit.concurrency >> 1);
    }
    return cause;
  };

  const once = async (request: Request, tries: number): Promise<Answer> => {
    await waitForPace(pace, { signal, now, sleep });
    const sentAt = now();
    const answer = await send(request);
    if (learn(answer, sentAt) !== "chance" || tries === quickTries) return answer;
    onAgain(answer);
    await sleep((now() - sentAt) * firstWait * 2 ** (tries - 1), signal).catch(() => signal.throwIfAborted());
    return once(request, tries + 1);
  };
  return (request) => limit(() => once(request, 1));
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
