import { countText } from "../../amounts.js";
import type { WorkerSummary } from "../../results/worker.js";
import type { RunTally } from "../../run/setting/run-tally.js";
import type { WorkerResult } from "../../worker/worker-options.js";
import { renderRun } from "../progress.js";
import type { Rendering } from "../view.js";

/** Renders what a worker does: it knows no end, so there is no bar. */
export function renderWorker(tally: RunTally): Rendering {
  const line = (elapsed: number) => {
    const { step, documentsDone, chunks, child_chunks: children, requests } = tally;
    const rate = elapsed > 0 ? Math.round((requests.answered * 1000) / elapsed) : 0;
    const counts = [
      countText(documentsDone, "document"),
      countText(chunks, "chunk"),
      countText(children, "child chunk"),
    ];
    return [step, ...counts, `${rate.toLocaleString("en-US")} requests/s`].join(" · ");
  };
  return { ...renderRun(tally), lines: (elapsed) => [line(elapsed)], block: (elapsed) => [line(elapsed)] };
}

/** A sentence of what a worker did. */
export function workerText({ name, documents, in_vain, late, chunks, child_chunks, requests }: WorkerResult): string {
  const read = [countText(documents, "document"), countText(chunks, "chunk"), countText(child_chunks, "child chunk")];
  const vain = in_vain > 0 ? [`${countText(in_vain, "attempt")} in vain`] : [];
  const others = late > 0 ? [`${countText(late, "document")} that others had read`] : [];
  return `worker ${name} has read ${[...read, ...vain, ...others].join(", ")} with ${countText(requests, "request")}`;
}

/** The same for programs. */
export function workerJson(result: WorkerResult): WorkerSummary {
  return { status: "idle", ...result };
}
