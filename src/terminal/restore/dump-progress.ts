import type { RunTally } from "../../job/run-tally.js";

import { progressOf, type RunProgress } from "../progress.js";

/**
 * Gives the progress of dumps that are made one after the other. The time of each counts from when it was first looked at, as
 * other work came before.
 */
export function watchDumps(): (dump: RunTally, elapsed: number) => RunProgress {
  let current: RunTally | undefined;
  let begun = 0;
  return (dump, elapsed) => {
    if (dump !== current) [current, begun] = [dump, elapsed];
    return progressOf(dump, elapsed - begun);
  };
}
