import { progressOfRun, renderWork, within } from "../../cli/progress.js";
import type { Rendering } from "../../cli/view.js";
import type { MoveTally } from "../../restore/copy/copy-result.js";

/** Renders how far a move is. It is measured in chunks, or in documents where no chunk comes, as with --from originals. */
export function renderMove(tally: MoveTally): Rendering {
  return renderWork(() => {
    const { step, dump, documents, documentsDone, documentsFailed, chunks, chunksDone, writes } = tally;
    if (dump !== undefined) return within(step, progressOfRun(dump));
    if (step !== "writing") return { step, unit: "chunk", done: 0, of: undefined };
    const counts = [
      ...(documentsFailed > 0 ? [{ noun: "failed document", done: documentsFailed }] : []),
      ...(documents > 0 ? [{ noun: "document", done: documentsDone, of: documents }] : []),
      ...(chunks > 0 ? [{ noun: "chunk", done: chunksDone, of: chunks }] : []),
      ...(writes > 0 ? [{ noun: "request", done: writes }] : []),
    ];
    if (chunks > 0) return { step, unit: "chunk", done: chunksDone, of: chunks, counts };
    return { step, unit: "document", done: documentsDone, of: documents > 0 ? documents : undefined, counts };
  });
}
