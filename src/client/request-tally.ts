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
