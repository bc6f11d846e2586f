/** For how long batches cannot be read, in moments of milliseconds. */
export interface Outage {
  readonly since: number;
  readonly lastTold: number;
}

/** So many milliseconds lie between two warnings of one outage. */
const tellEvery = 600_000;

/** The state of an outage after a poll, and whether to report it: at its beginning, every ten minutes, at its end. */
export function outageAfter(
  outage: Outage | undefined,
  failed: boolean,
  now: number,
): { readonly outage: Outage | undefined; readonly tell: "failed" | "recovered" | undefined } {
  if (!failed) return { outage: undefined, tell: outage && "recovered" };
  if (!outage) return { outage: { since: now, lastTold: now }, tell: "failed" };
  if (now - outage.lastTold < tellEvery) return { outage, tell: undefined };
  return { outage: { ...outage, lastTold: now }, tell: "failed" };
}
