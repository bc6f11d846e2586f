import type { Dump } from "../../../src/dump/open-dump.js";
import { emptyMoveTally, noFacts } from "../../../src/restore/copy/copy-result.js";
import { type PlannedMove, type PlanOptions, planMove } from "../../../src/restore/copy/plan/plan-copy.js";

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
