import { RetryError } from "../errors.js";
import { retryReason, type Send } from "./send.js";

/** Counts of the requests of a run; the client adds to them, progress and manifest show them. */
export interface RequestCounts {
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
export function emptyRequestCounts(): RequestCounts {
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
export function counted(send: Send, progress: RequestCounts, signal: AbortSignal): Send {
  return async (request) => {
    signal.throwIfAborted(); // what waited for a slot is not sent any more
    progress.sent++;
    progress.inFlight++;
    progress.silentSince ??= performance.now();
    try {
      const answer = await send(request);
      progress.answered++;
      progress.silentSince = progress.inFlight > 1 ? performance.now() : undefined; // this one is still counted
      return answer;
    } finally {
      progress.inFlight--;
    }
  };
}

/** Counts reads that were refused because too much was asked. */
export function countThrottled<T>(read: () => Promise<T>, progress: RequestCounts): () => Promise<T> {
  return async () => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof RetryError && error.throttled) progress.throttled++;
      throw error;
    }
  };
}

/** Counts a retry, and its reason; any other error is none. */
export function countRetry(error: Error, progress: RequestCounts): void {
  if (!(error instanceof RetryError)) return;
  progress.retried++;
  const reason = retryReason(error);
  progress.retriedBy[reason] = (progress.retriedBy[reason] ?? 0) + 1;
}
