import { progressOfRun, renderWork, within } from "../../cli/progress.js";
import type { Rendering } from "../../cli/view.js";
import type { RestoreTally } from "../../restore/restore-options.js";

/** Renders how far a restore is. */
export function renderRestore(tally: RestoreTally): Rendering {
  return renderWork(() => {
    const { step, chunks, chunksDone, waiting, dump } = tally;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    const isMeasured = step === "writing" && chunks > 0;
    return {
      step,
      unit: "chunk",
      done: chunksDone,
      of: isMeasured ? chunks : undefined,
      counts: isMeasured ? [{ noun: "chunk", done: chunksDone, of: chunks }] : [],
      note: waiting > 0 ? `${waiting} wait until the service has indexed them` : undefined,
    };
  });
}
