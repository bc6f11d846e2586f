import { RetryError } from "../errors.js";
import { retryReason, type Send } from "./send.js";

/** Counts of the requests of a run; the client adds to them, progress and manifest show them. */
export interface RequestTally {
  sent: number;
  retried: number;
  /** Refused because too much was asked. */
  throttled: number;
  /** Bodies as received, before decompression. */
  bytes: number;
  inFlight: number;
  /** Since when no answer came though one was asked for, by `performance.now()`; undefined while there is none to wait for. */
  silentSince: number | undefined;
  /** Answers of whatever status. */
  answered: number;
  /** Requests sent again, by the reason: a status, `timeout`, `connection` or `broken answer`. */
  readonly retriedBy: Record<string, number>;
}

/** A tally of nothing yet. */
export function emptyRequestTally(): RequestTally {
  return {
    sent: 0,
    retried: 0,
    throttled: 0,
    bytes: 0,
    inFlight: 0,
    silentSince: undefined,
    answered: 0,
    retriedBy: {},
  };
}

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
