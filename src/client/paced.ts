import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import type { InFlightBound } from "./in-flight-bound.js";
import { type Finding, InFlightTrial } from "./in-flight-trial.js";
import type { Pace } from "./pace.js";
import type { Answer, Request, Send } from "./send.js";

export interface PacedOptions {
  readonly bound: InFlightBound;
  readonly trial?: InFlightTrial;
  /** Told when fewer in flight turn out to get more done. */
  readonly onFinding?: (found: Finding) => void;
  readonly pace: Pace;
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
 * wait in order. The slot is free when the body is in.
 */
export function paced(send: Send, options: PacedOptions): Send {
  const { bound, pace, signal, refusal, now = () => performance.now() } = options;
  const { trial = new InFlightTrial(bound.value), onFinding = () => {} } = options;
  const { sleep = (ms, end) => delay(ms, undefined, { signal: end }) } = options;
  const limit = pLimit(bound.value);
  const compare = (request: Request, milliseconds: number) => {
    const found = trial.answered(kindOf(request), milliseconds, now(), bound.isFree);
    if (found) onFinding(found);
    bound.keepTo(trial.level);
  };

  let lastSentAt = Number.NEGATIVE_INFINITY;
  const turn = async () => {
    for (let wait = pace.take(now()); wait > 0; wait = pace.take(now())) {
      signal.throwIfAborted();
      await sleep(wait, signal).catch(() => signal.throwIfAborted());
    }
  };
  const learn = (request: Request, answer: Answer, sentAt: number) => {
    const refused = refusal(answer);
    if (!refused) {
      if (pace.accepted(sentAt, now())) bound.forgiven();
      if (answer.status === 200) {
        if (!trial.isOn) bound.answered(kindOf(request), now() - sentAt);
        compare(request, now() - sentAt);
      }
    } else if (pace.refused(sentAt, now(), refused.retryAfter)) {
      bound.refused();
      trial.disturbed(now());
      bound.keepTo(trial.level);
    }
    if (limit.concurrency !== bound.value) limit.concurrency = bound.value;
  };
  return (request) =>
    limit(async () => {
      await turn();
      const sentAt = Math.max(now(), lastSentAt + 0.000_1); // no two at the same moment, so that their order is known
      lastSentAt = sentAt;
      trial.sent(limit.activeCount);
      const answer = await send(request);
      learn(request, answer, sentAt);
      return answer;
    });
}

/** Latencies of one operation can be compared: it is the last word of the path. */
function kindOf({ path }: Request): string {
  return path.slice(path.lastIndexOf("/"));
}
