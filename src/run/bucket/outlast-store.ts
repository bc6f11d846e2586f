import { setTimeout as delay } from "node:timers/promises";
import { StopError } from "../../errors.js";
import type { Log } from "../../log.js";

export interface Patience {
  /** Seconds for which the store may be gone. */
  readonly outage: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Statuses of a store that has trouble for a while: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const troubles: readonly unknown[] = [429, 500, 502, 503, 504];

/** The longest time between two tries, in milliseconds. */
const longest = 15_000;

/**
 * Does some work again while the store gives no answer, or says that it has trouble, until the outage is over. The work must do no
 * harm when it is done twice.
 */
export async function outlastStore<T>(work: () => Promise<T>, { outage, log, signal }: Patience): Promise<T> {
  const end = performance.now() + outage * 1000;
  for (let wait = 1000; ; wait = Math.min(wait * 2, longest)) {
    try {
      return await work();
    } catch (error) {
      if (!isTrouble(error) || performance.now() + wait > end) throw error;
      log("warn", `${error.message}; next try in ${wait / 1000} s`);
      await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/**
 * Whether the store gave no answer, or has a fault: what was asked of it may have taken place. An error without a status but with a
 * cause is that of a request without an answer.
 */
export function isTrouble(error: unknown): error is StopError {
  if (!(error instanceof StopError)) return false;
  return error.status === undefined ? error.cause !== undefined : troubles.includes(error.status);
}
