import { durationText } from "../amounts.js";
import type { ReadTally } from "../read-tally.js";
import type { ReadFacts } from "../results/log.js";
import { renderBarLine } from "./progress.js";
import { secondsFrom } from "./text.js";
import type { Rendering } from "./view.js";

/** The progress of a verification after `elapsed` milliseconds. */
interface ReadProgress {
  readonly step: string;
  /** From 0 to 1. */
  readonly share: number;
  /** Milliseconds to go; undefined as long as nothing can be said. */
  readonly left: number | undefined;
}

function readProgressOf({ step, expected, done }: ReadTally, elapsed: number): ReadProgress {
  const share = expected > 0 ? Math.min(1, done / expected) : 0;
  return { step, share, left: share < 0.01 ? undefined : elapsed / share - elapsed };
}

/** `reading chunks.csv · 5.0 s left` */
function renderReadProgress({ step, left }: ReadProgress): string {
  return left === undefined || left < 100 ? step : `${step} · ${durationText(left)} left`;
}

/** The same for programs. */
function readFacts(tally: ReadTally, elapsed: number): ReadFacts {
  const { step, share, left } = readProgressOf(tally, elapsed);
  return { step, share, elapsed_seconds: secondsFrom(elapsed), remaining_seconds: secondsFrom(left) };
}

/** Renders how far a dump is read. */
export function renderReading(tally: ReadTally): Rendering {
  return {
    facts: (elapsed) => readFacts(tally, elapsed),
    lines: (elapsed) => {
      const progress = readProgressOf(tally, elapsed);
      return [`${Math.floor(progress.share * 100)} % · ${renderReadProgress(progress)}`];
    },
    block: (elapsed, screen) => {
      const progress = readProgressOf(tally, elapsed);
      return [renderBarLine(progress.share, renderReadProgress(progress), screen)];
    },
    drawEvery: 100,
  };
}
