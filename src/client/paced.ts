import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { InFlightBound } from "./in-flight/in-flight-bound.js";
import { type Finding, InFlightTrial } from "./in-flight/in-flight-trial.js";
import type { Cause, Pace } from "./pace.js";
import type { Answer, Request, Send } from "./send.js";

/** Tries of a request that chance refuses before its caller hears of it. */
const quickTries = 4;
/** The wait before the second try, in times of what the first one took. */
const firstWait = 0.25;

export interface PacedOptions {
  readonly bound: InFlightBound;
  readonly trial?: InFlightTrial;
  /** Told when fewer in flight turn out to get more done. */
  readonly onFinding?: (found: Finding) => void;
  /** Told of every number in flight that is tried or kept. */
  readonly onLevel?: (level: number) => void;
  readonly pace: Pace;
  /** Told of a refusal by chance whose request is sent again at once. */
  readonly onAgain?: (answer: Answer) => void;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** Whether the service refused because too much was asked of it, and how many milliseconds it asks to wait. */
  readonly refusal: (answer: Answer) => { readonly retryAfter: number | undefined } | undefined;
  /** Milliseconds on a clock that only goes forward. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Lets no more requests be in flight than the bound says, sends them at the pace, and learns from the answers. The others
 * wait in order. The slot is free when the body is in. A request that chance refuses keeps its slot: it waits a quarter
 * of the time that the answer took, twice that the next time, and is sent again.
 */
export function paced(send: Send, options: PacedOptions): Send {
  const { bound, pace, signal, refusal, now = () => performance.now() } = options;
  const {
    trial = new InFlightTrial(bound.value),
    onFinding = () => {},
    onLevel = () => {},
    onAgain = () => {},
  } = options;
  const { sleep = pause } = options;
  const limit = pLimit(bound.value);
  let level = trial.level;
  const follow = () => {
    if (trial.level === level) return;
    level = trial.level;
    bound.keepTo(level);
    onLevel(level);
  };
  const compare = (request: Request, milliseconds: number) => {
    const found = trial.answered(kindOf(request), milliseconds, now(), bound.isFree);
    if (found) onFinding(found);
    follow();
  };

  const learn = (request: Request, answer: Answer, sentAt: number): Cause | undefined => {
    const refused = refusal(answer);
    const cause = refused && pace.refused(sentAt, now(), refused.retryAfter);
    if (cause === undefined) {
      pace.accepted(sentAt, now());
      if (answer.status === 200) {
        if (!trial.isOn) bound.answered(kindOf(request), now() - sentAt);
        compare(request, now() - sentAt);
      }
    } else if (cause === "limit") {
      bound.refused();
      trial.disturbed(now());
      follow();
    }
    if (limit.concurrency !== bound.value) limit.concurrency = bound.value;
    return cause;
  };
  const once = async (request: Request, tries: number): Promise<Answer> => {
    await turnAt(pace, { signal, now, sleep });
    const sentAt = now();
    trial.sent(limit.activeCount);
    const answer = await send(request);
    if (learn(request, answer, sentAt) !== "chance" || tries === quickTries) return answer;
    onAgain(answer);
    await sleep((now() - sentAt) * firstWait * 2 ** (tries - 1), signal).catch(() => signal.throwIfAborted());
    return once(request, tries + 1);
  };
  return (request) => limit(() => once(request, 1));
}

/** Waits until the pace lets one more request go. */
export async function turnAt(
  pace: Pace,
  { signal, now = () => performance.now(), sleep = pause }: Pick<PacedOptions, "signal" | "now" | "sleep">,
): Promise<void> {
  for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
    signal.throwIfAborted();
    await sleep(wait, signal).catch(() => signal.throwIfAborted());
  }
}

/** Waits so many milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}

/** Latencies of one operation can be compared: it is the last word of the path. */
function kindOf({ path }: Request): string {
  return path.slice(path.lastIndexOf("/"));
}
