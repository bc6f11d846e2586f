import { countText, durationText } from "../amounts.js";
import type { RunTally } from "../job/run-tally.js";

/** Milliseconds without an answer that are worth a word. */
const long = 10_000;

/** Milliseconds for which requests in flight have had no answer; undefined where that is not worth a word. */
export function waitingTime(
  { inFlight, silentSince }: Pick<RunTally["requests"], "inFlight" | "silentSince">,
  now: number,
): number | undefined {
  if (inFlight === 0 || silentSince === undefined || now - silentSince < long) return undefined;
  return now - silentSince;
}

/** `waiting 50 s for 3 answers`. */
export function waitingText(milliseconds: number, answers: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const time = seconds < 60 ? `${seconds} s` : durationText(seconds * 1_000);
  return `waiting ${time} for ${countText(answers, "answer")}`;
}
