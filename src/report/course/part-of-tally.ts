import type { ReadTally } from "../../read-tally.js";

/** A span of the whole work, both ends from 0 to 1. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Units that the whole work counts as. */
const units = 1_000_000;

/**
 * The tally of one part of a larger work: the whole tally shows its step, and its bytes as a share of the span. It never goes back,
 * also where there turns out to be more to do.
 */
export function partOfTally(whole: ReadTally, { from, to }: Span): ReadTally {
  let [expected, done, share] = [0, 0, 0];
  const show = () => {
    if (expected > 0) share = Math.max(share, Math.min(1, done / expected));
    whole.expected = units;
    whole.done = units * (from + (to - from) * share);
  };
  show();
  return {
    get step() {
      return whole.step;
    },
    set step(step) {
      whole.step = step;
    },
    get expected() {
      return expected;
    },
    set expected(bytes) {
      expected = bytes;
      show();
    },
    get done() {
      return done;
    },
    set done(bytes) {
      done = bytes;
      show();
    },
  };
}
