import { RetryError } from "../errors.js";
import { retryReason, type Send } from "./retry.js";

/** The request counts of a run. The client updates them; progress and manifest show them. */
export class RequestCounts {
  sent = 0;
  retried = 0;
  /** Requests that the service refused because there were too many. */
  throttled = 0;
  /** Body bytes as received, before decompression. */
  bytes = 0;
  inFlight = 0;
  /**
   * When requests began to wait without any answer, by `performance.now()`; undefined if none is waiting. Includes the time between
   * two tries and during an outage.
   */
  silentSince: number | undefined = undefined;
  /** Requests that got an answer, with any status. */
  answered = 0;
  /** Retries by reason: a status, `timeout`, `connection` or `broken answer`. */
  readonly retriedBy: Record<string, number> = {};
}

/** Counts requests sent, in flight and answered. */
export function counted(send: Send, progress: RequestCounts, signal: AbortSignal): Send {
  return async (request) => {
    signal.throwIfAborted(); // do not send requests that waited for a slot
    progress.sent++;
    progress.inFlight++;
    progress.silentSince ??= performance.now();
    try {
      const answer = await send(request);
      progress.answered++;
      progress.silentSince = progress.inFlight > 1 ? performance.now() : undefined; // `inFlight` still includes this request
      return answer;
    } finally {
      progress.inFlight--;
    }
  };
}

/** Counts a retry by its reason. Does nothing for an error that is not retried. */
export function countRetry(error: unknown, progress: RequestCounts): void {
  if (!(error instanceof RetryError)) return;
  progress.retried++;
  const reason = retryReason(error);
  progress.retriedBy[reason] = (progress.retriedBy[reason] ?? 0) + 1;
}
