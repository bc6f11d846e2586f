import type { ReadFacts } from "../../cli/log-schema.js";
import { renderBarLine, renderProgress, watchDumps } from "../../cli/progress.js";
import { secondsFrom } from "../../cli/text.js";
import type { Rendering } from "../../cli/view.js";
import type { RestoreTally } from "../../restore/restore-options.js";

/** How far the step in hand is. */
interface RestoreProgress {
  readonly step: string;
  /** From 0 to 1; undefined where the step has no measure. */
  readonly share: number | undefined;
  /** The progress of the dump that is being made; undefined while there is none. */
  readonly dump: string | undefined;
}

function restoreProgressOf(
  { step, chunks, chunksDone, waiting, dump }: RestoreTally,
  elapsed: number,
  progressOfDump: ReturnType<typeof watchDumps>,
): RestoreProgress {
  if (dump !== undefined) {
    const progress = progressOfDump(dump, elapsed);
    return { step, share: progress.share, dump: renderProgress(progress) };
  }
  if (step !== "writing" || chunks === 0) return { step, share: undefined, dump: undefined };
  const waits = waiting > 0 ? `; ${waiting} wait until the service has indexed them` : "";
  const text = `writing chunk ${Math.min(chunksDone + 1, chunks)} of ${chunks}${waits}`;
  return { step: text, share: Math.min(1, chunksDone / chunks), dump: undefined };
}

/** `writing chunk 3 of 12`, `proving · 1/2 documents · 40 chunks · …` */
function textOf({ step, dump }: RestoreProgress): string {
  return [step, dump].filter(Boolean).join(" · ");
}

function restoreFacts({ step, share }: RestoreProgress, elapsed: number): ReadFacts {
  return { step, share: share ?? 0, elapsed_seconds: secondsFrom(elapsed), remaining_seconds: null };
}

/** Renders how far a restore is. */
export function renderRestore(tally: RestoreTally): Rendering {
  const progressOfDump = watchDumps();
  const progressOf = (elapsed: number) => restoreProgressOf(tally, elapsed, progressOfDump);
  return {
    facts: (elapsed) => restoreFacts(progressOf(elapsed), elapsed),
    lines: (elapsed) => [textOf(progressOf(elapsed))],
    block: (elapsed, screen) => {
      const progress = progressOf(elapsed);
      return [renderBarLine(progress.share, textOf(progress), screen)];
    },
    drawEvery: 100,
  };
}
