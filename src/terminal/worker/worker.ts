import { countText, numberText } from "../../amounts.js";
import { type RunTally, readingDocuments, waitingForDocuments } from "../../job/run-tally.js";

import type { WorkerResult } from "../../parallel/worker/worker-options.js";

import type { WorkerSummary } from "../../results/worker.js";
import { cutToWidth } from "../display-width.js";
import { renderRun } from "../progress.js";
import type { Rendering } from "../view.js";
import { waitingText, waitingTime } from "../waiting-text.js";
import { RecentRate } from "./recent-rate.js";

/** Renders how a worker goes on: it knows no end, so there is no bar. While it waits, lines are printed once. */
export function renderWorker(tally: RunTally): Rendering {
  const rate = new RecentRate();
  let printed = "";
  const isNews = () => {
    const { step, documentsDone, requests } = tally;
    const state = [step, documentsDone, requests.sent].join(" ");
    if (step === waitingForDocuments && state === printed) return false;
    printed = state;
    return true;
  };
  const line = (elapsed: number) => workerLine(tally, rate.at(elapsed, tally.requests.answered));
  const run = renderRun(tally);
  return {
    facts: (elapsed) => (isNews() ? run.facts(elapsed) : undefined),
    lines: (elapsed) => {
      const text = line(elapsed);
      return isNews() ? [text] : [];
    },
    block: (elapsed, { columns }) => [cutToWidth(line(elapsed), columns - 1)],
    drawEvery: run.drawEvery,
  };
}

function workerLine(tally: RunTally, rate: number): string {
  const { step, documentsDone, chunks, child_chunks, requests } = tally;
  const silent = waitingTime(requests, performance.now());
  return [
    step,
    silent !== undefined && waitingText(silent, requests.inFlight),
    documentsDone > 0 && `${readText({ documents: documentsDone, chunks, child_chunks })} read`,
    step === readingDocuments && `${numberText(Math.round(rate))} requests/s`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function readText({ documents, chunks, child_chunks }: Pick<WorkerResult, "documents" | "chunks" | "child_chunks">) {
  return [countText(documents, "document"), countText(chunks, "chunk"), countText(child_chunks, "child chunk")].join(
    ", ",
  );
}

/** A sentence of what a worker did. */
export function workerText(result: WorkerResult): string {
  const { name, in_vain, late, requests } = result;
  const vain = in_vain > 0 ? [`${countText(in_vain, "attempt")} in vain`] : [];
  const others = late > 0 ? [`${countText(late, "document")} that others had read`] : [];
  return `worker ${name} has read ${[readText(result), ...vain, ...others].join(", ")} with ${countText(requests, "request")}`;
}

/** The same for programs. */
export function workerJson(result: WorkerResult): WorkerSummary {
  return { status: "idle", ...result };
}
