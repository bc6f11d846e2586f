import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { InFlightBound } from "./in-flight.js";
import type { Cause, Pace } from "./pace.js";
import type { Answer, Request, Send } from "./send.js";

/** Tries of a randomly refused request before its caller gets the refusal. */
const quickTries = 4;
/** The wait before the second try, relative to the duration of the first. */
const firstWait = 0.25;

interface PacedOptions extends WaitOptions {
  readonly bound: InFlightBound;
  /** The limits shared by all processes that read the service. */
  readonly shared?: SharedBounds | undefined;
  readonly pace: Pace;
  /** Called with a random refusal whose request is repeated at once. */
  readonly onAgain?: (answer: Answer) => void;
  /** The wait that the service asks for in milliseconds, if the answer is a refusal because of too many requests. */
  readonly refusal: (answer: Answer) => { readonly retryAfter: number | undefined } | undefined;
}

/**
 * Enforces the concurrency limit and the pace, and learns from the answers. Waiting requests are served in order. A slot is free
 * once the body is received. A randomly refused request keeps its slot and is repeated after a quarter of the time that the answer
 * took, doubling each time.
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

/** The operation, from the last word of the path. Latencies are compared only within one operation. */
function kindOf({ path }: Request): string {
  return path.slice(path.lastIndexOf("/"));
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

/**
 * Waits for a slot shared by all processes, then until the pace allows a request. If the slot is lost meanwhile, it is released,
 * and the wait starts over. Send immediately after it resolves.
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

/** Whether the pace allowed the request while we still had the slot. */
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

/** Waits for some milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}

/** One of the concurrent requests that all processes of a service may send together. */
export interface SharedSlot {
  /** Whether the slot is certainly still ours. If not, another process may have it: do not send. */
  readonly isSure: () => boolean;
  /** Releases the slot. Call it once the answer is received. */
  readonly leave: () => void;
}

/** The limits shared by all processes that read one service. */
export interface SharedBounds {
  /** Resolves when this process has a slot. Rejects with the reason of the signal. */
  readonly enter: (signal: AbortSignal) => Promise<SharedSlot>;
  /** Requests per second that this process may send now: 0 without a slot, Infinity without a limit. */
  readonly rate: () => number;
  /** Reports that this rate delays a request, so a larger share would help. */
  readonly slowed: () => void;
  /** Makes all other processes wait for some milliseconds, because the service refused a request. */
  readonly pause: (milliseconds: number) => void;
  /** Calls the listener with the milliseconds to wait when another process was refused. */
  readonly onPause: (listener: (milliseconds: number) => void) => void;
}
