import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { InFlightBound } from "./in-flight.js";
import type { Cause, Pace } from "./pace.js";
import type { Answer, Request, Send } from "./send.js";

/** Tries of a request that chance refuses before its caller hears of it. */
const quickTries = 4;
/** The wait before the second try, in times of what the first one took. */
const firstWait = 0.25;

interface PacedOptions extends WaitOptions {
  readonly bound: InFlightBound;
  /** The bounds of all processes that read the service. */
  readonly shared?: SharedBounds | undefined;
  readonly pace: Pace;
  /** Called with a refusal by chance whose request is sent again at once. */
  readonly onAgain?: (answer: Answer) => void;
  /** Whether the service refused because too much was asked of it, and how many milliseconds it asks to wait. */
  readonly refusal: (answer: Answer) => { readonly retryAfter: number | undefined } | undefined;
}

/**
 * Lets no more requests be in flight than the bound says, sends them at the pace, and learns from the answers. The others
 * wait in order. The slot is free when the body is in. A request that chance refuses keeps its slot: it waits a quarter
 * of the time that the answer took, twice that the next time, and is sent again.
 */
export function paced(send: Send, options: PacedOptions): Send {
  const { bound, pace, shared, signal, refusal, now = () => performance.now(), sleep = pause } = options;
  const { onAgain = () => {} } = options;
  const limit = pLimit(bound.value);
  const keepToBound = () => {
    if (limit.concurrency !== bound.value) limit.concurrency = bound.value;
  };

  const learn = (request: Request, answer: Answer, sentAt: number): Cause | undefined => {
    const refused = refusal(answer);
    const cause = refused && pace.refused(sentAt, now(), refused.retryAfter);
    if (cause === undefined) {
      pace.accepted(sentAt, now());
      if (answer.status === 200) bound.answered(kindOf(request), now() - sentAt);
    } else if (cause === "limit") {
      bound.refused();
      shared?.pause(pace.pauseLeft(now()));
    }
    keepToBound();
    return cause;
  };
  shared?.onPause((milliseconds) => {
    if (pace.refused(now(), now(), milliseconds) === "limit") bound.refused();
    keepToBound();
  });

  const sendPaced = async (request: Request): Promise<{ readonly answer: Answer; readonly sentAt: number }> => {
    const slot = shared && (await waitForSlot(shared, pace, { signal, now, sleep }));
    if (!slot) await waitForPace(pace, { signal, now, sleep });
    const sentAt = now();
    try {
      return { answer: await send(request), sentAt };
    } finally {
      slot?.leave();
    }
  };
  const once = async (request: Request, tries: number): Promise<Answer> => {
    const { answer, sentAt } = await sendPaced(request);
    if (learn(request, answer, sentAt) !== "chance" || tries === quickTries) return answer;
    onAgain(answer);
    await sleep((now() - sentAt) * firstWait * 2 ** (tries - 1), signal).catch(() => signal.throwIfAborted());
    return once(request, tries + 1);
  };
  return (request) => limit(() => once(request, 1));
}

/** Latencies of one operation can be compared: it is the last word of the path. */
function kindOf({ path }: Request): string {
  return path.slice(path.lastIndexOf("/"));
}

interface WaitOptions {
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** Milliseconds on a clock that only goes forward. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Waits until the pace lets one more request go. */
export async function waitForPace(
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: WaitOptions,
): Promise<void> {
  for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
    signal.throwIfAborted();
    await sleep(wait, signal).catch(() => signal.throwIfAborted());
  }
}

/**
 * Waits for a place among the requests of all processes, and then until the pace lets one more request go. A place that was
 * lost meanwhile is given back, and another one waited for: with the result, send at once.
 */
export async function waitForSlot(shared: SharedBounds, pace: Pace, options: WaitOptions): Promise<SharedSlot> {
  const { signal } = options;
  for (;;) {
    const slot = await shared.enter(signal);
    try {
      if (await waitForPaceInSlot(slot, shared, pace, options)) return slot;
    } catch (error) {
      slot.leave();
      throw error;
    }
    slot.leave();
  }
}

/** Whether the turn came while the place was ours. */
async function waitForPaceInSlot(
  slot: SharedSlot,
  shared: SharedBounds,
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: WaitOptions,
): Promise<boolean> {
  while (slot.isSure()) {
    const wait = pace.take(now());
    if (wait === 0) return true;
    if (pace.isAtMost(now())) shared.slowed();
    await sleep(wait, signal).catch(() => {});
    signal.throwIfAborted();
  }
  return false;
}

/** Waits so many milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}

/** A place among the requests in flight of all processes that read one service. */
export interface SharedSlot {
  /** Whether the place is certainly ours at this moment. Once it is not, another process may have it: nothing is sent any more. */
  readonly isSure: () => boolean;
  /** Gives the place back, once the answer is in. */
  readonly leave: () => void;
}

/** The bounds to which all processes that read one service keep together. */
export interface SharedBounds {
  /** Resolves with a place as soon as this process has one. Rejects with the reason of the signal. */
  readonly enter: (signal: AbortSignal) => Promise<SharedSlot>;
  /** Requests a second that this process may send at this moment: 0 without a place; Infinity without a bound. */
  readonly rate: () => number;
  /** Says that this rate holds a request back, so that a larger share of it is of use. */
  readonly slowed: () => void;
  /** Lets all other processes wait so many milliseconds, because the service refused a request. */
  readonly pause: (milliseconds: number) => void;
  /** Calls the listener with the milliseconds to wait whenever another process met a refusal. */
  readonly onPause: (listener: (milliseconds: number) => void) => void;
}
