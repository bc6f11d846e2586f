/** Decides how many places a process takes or gives back. Pure. */

/** The places as one process sees them. */
export interface Shares {
  /** The places of the service. */
  readonly concurrency: number;
  /** The processes that have use for places, this one included. */
  readonly members: number;
  readonly held: number;
  readonly wanted: number;
  /** Whether a process has fewer than its share, and wants more. */
  readonly isLack: boolean;
}

/** How many places this process may have now: all that it wants, but while somebody lacks some, no more than its share. */
export function placesToHold(shares: Shares): number {
  return Math.min(shares.wanted, shares.isLack ? shareOf(shares) : shares.concurrency);
}

/** Whether this process has fewer places than belong to it whatever the others want. */
export function isLacking(shares: Shares): boolean {
  return shares.held < Math.min(shares.wanted, shareOf(shares));
}

/** Rounded down, so that there are enough for all; whoever wants more takes the rest once nobody lacks any. */
export function shareOf({ concurrency, members }: Pick<Shares, "concurrency" | "members">): number {
  return Math.max(1, Math.floor(concurrency / Math.max(1, members)));
}

/** Whether there are more processes than places, and another one waits: then the places go round. */
export function goesRound({ concurrency, members, held, isLack }: Shares): boolean {
  return isLack && members > concurrency && held > 0;
}
