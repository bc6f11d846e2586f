import type { Dump } from "../../../src/dump/open-dump.js";
import { noFacts } from "../../../src/journal/journal-state.js";
import { type PlannedCopy, type PlanOptions, planCopy } from "../../../src/restore/copy/plan-copy.js";
import { emptyWriteProgress } from "../../../src/restore/result.js";

/** Plans a copy of a whole dump into new datasets; options override this. */
export function planOf(
  dump: Dump,
  target: Parameters<typeof planCopy>[0],
  more: Partial<PlanOptions> = {},
): Promise<PlannedCopy> {
  return planCopy(target, {
    ...{ dump, documents: [], dataset: undefined, facts: noFacts },
    ...{ memory: "200MB", signal: new AbortController().signal, progress: emptyWriteProgress() },
    baseUrl: "https://other.example.com/v1",
    ...more,
  });
}
