import { RetryError } from "../errors.js";
import type { RequestTally } from "./request-tally.js";
import { retryReason } from "./retry.js";
import type { Send } from "./send.js";

/** Counts what is sent, what is in flight, and what is answered. */
export function counted(send: Send, tally: RequestTally, signal: AbortSignal): Send {
  return async (request) => {
    signal.throwIfAborted(); // what waited for a slot is not sent any more
    tally.sent++;
    tally.inFlight++;
    tally.silentSince ??= performance.now();
    try {
      const answer = await send(request);
      tally.answered++;
      tally.silentSince = tally.inFlight > 1 ? performance.now() : undefined; // this one is still counted
      return answer;
    } finally {
      tally.inFlight--;
    }
  };
}

/** Counts reads that were refused because too much was asked. */
export function countThrottled<T>(read: () => Promise<T>, tally: RequestTally): () => Promise<T> {
  return async () => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof RetryError && error.throttled) tally.throttled++;
      throw error;
    }
  };
}

/** Counts a retry, and its reason; any other error is none. */
export function countRetry(error: Error, tally: RequestTally): void {
  if (!(error instanceof RetryError)) return;
  tally.retried++;
  const reason = retryReason(error);
  tally.retriedBy[reason] = (tally.retriedBy[reason] ?? 0) + 1;
}
