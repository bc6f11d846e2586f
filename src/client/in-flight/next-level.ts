/** Decides which number of requests in flight to measure next. Pure. */

/** So many times as much done is better; so much less is worse. */
export const better = 1.5;
const worse = 0.8;
/** A number in flight is as good as a lower one with so much of its throughput; numbers so close to each other are one. */
const asGood = 0.97;
const close = 0.2;

/** The work done a second with so many in flight, and the share of answers that hung. */
export interface Measured {
  readonly level: number;
  readonly rate: number;
  readonly longest: number;
  readonly answers: number;
  readonly hanging: number;
  /** The most that one request after the other gets done, if each takes as long as the quickest of its kind so far. */
  readonly single: number;
}

/**
 * Halves the number until more gets done, then looks between the best number and the lowest one above it that is no better. It does
 * not halve where half as many could not get enough done even if each request took as long as the quickest of its kind.
 * `measure`: the next number. `found`: the best one. undefined: fewer are no better. `done` begins with all in flight;
 * an answer that took more than `hanging` milliseconds hung.
 */
export function nextLevel(
  done: readonly Measured[],
  hanging: number,
): { readonly measure: number } | { readonly found: number } | undefined {
  const [all] = done;
  const last = done.at(-1);
  if (!all || !last) return undefined;
  const best = bestOf(all, done);
  const half = last.level >> 1;
  const isLowest = done.every(({ level }) => level >= last.level);
  if (best && isLowest && half > 0 && last.longest > hanging) return { measure: half };
  const mayBeBetter = half > 0 && last.rate > worse * all.rate && half * all.single >= better * all.rate;
  if (!best) return mayBeBetter ? { measure: half } : undefined;
  const above = Math.min(...done.map(({ level }) => level).filter((level) => level > best.level));
  const isClose = above - best.level <= Math.max(1, close * best.level);
  return isClose ? { found: best.level } : { measure: (best.level + above) >> 1 };
}

/** The highest number that is better than all, and about as good as each lower one. */
function bestOf(all: Measured, done: readonly Measured[]): Measured | undefined {
  let best: Measured | undefined;
  for (const one of done.toSorted((a, b) => a.level - b.level)) {
    const isGood = one.rate >= Math.max(better * all.rate, asGood * (best?.rate ?? 0));
    if (one.level < all.level && isGood) best = one;
  }
  return best;
}
