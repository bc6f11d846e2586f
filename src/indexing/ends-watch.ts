import { GaveUpError, type SkipError } from "../errors.js";

/** The answers before this poll. */
export interface Earlier {
  /** Whether the service ever answered. */
  readonly service: boolean;
  /** Whether this batch was ever read. */
  readonly batch: boolean;
}

/**
 * Whether a batch that could not be read ends the watch. What may pass does not, once the service has shown that it is
 * there; before, a connection refused or a page that is no JSON means a wrong address. A refusal does: the batch is unknown,
 * or may not be read. From a proxy it can come while the service is restarted, so of a batch that was read before only the
 * service's own word, which has a code, counts.
 */
export function endsWatch(error: SkipError, earlier: Earlier): boolean {
  if (error instanceof GaveUpError) return !earlier.service && (error.status === undefined || error.status < 400);
  return !earlier.batch || error.code !== undefined;
}
