import type { AgainstTally } from "../../restore/copy/against.js";
import { renderBarLine, renderProgress } from "../progress.js";
import { watchDumps } from "../restore/dump-progress.js";
import { secondsFrom } from "../text.js";
import type { Rendering } from "../view.js";

/** Renders how far a comparison with a service is: the dump that is made of it, then the documents that are compared. */
export function renderComparing(tally: AgainstTally): Rendering {
  const progressOfDump = watchDumps();
  const progressAt = (elapsed: number) => {
    const { step, dump, expected, done } = tally;
    if (dump === undefined) return { step, text: step, share: expected > 0 ? Math.min(1, done / expected) : undefined };
    const progress = progressOfDump(dump, elapsed);
    return { step, text: `${step} · ${renderProgress(progress)}`, share: progress.share };
  };
  return {
    facts: (elapsed) => {
      const { step, share = 0 } = progressAt(elapsed);
      return { step, share, elapsed_seconds: secondsFrom(elapsed), remaining_seconds: null };
    },
    lines: (elapsed) => [progressAt(elapsed).text],
    block: (elapsed, screen) => {
      const { share, text } = progressAt(elapsed);
      return [renderBarLine(share, text, screen)];
    },
    drawEvery: 100,
  };
}
