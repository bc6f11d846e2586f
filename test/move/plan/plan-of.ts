import type { Dump } from "../../../src/dump/open-dump.js";
import { noFacts } from "../../../src/move/journal-facts.js";
import { emptyMoveTally } from "../../../src/move/move-tally.js";
import { type PlannedMove, type PlanOptions, planMove } from "../../../src/move/plan/plan-move.js";

/** Plans a move of all of a dump into new datasets, unless something else is asked for. */
export function planOf(
  dump: Dump,
  target: Parameters<typeof planMove>[0],
  more: Partial<PlanOptions> = {},
): Promise<PlannedMove> {
  return planMove(target, {
    ...{ dump, documents: [], dataset: undefined, from: "chunks", facts: noFacts, retryFailed: false },
    ...{ memory: "200MB", signal: new AbortController().signal, tally: emptyMoveTally(), isSameService: false },
    ...more,
  });
}
