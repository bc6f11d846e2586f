import { durationText } from "../amounts.js";
import { InterruptedError, type Problem, UsageError } from "../errors.js";
import type { CommitState } from "../job/open-service.js";
import { durationFrom } from "./duration.js";

/** Timers of Node go no further than 24 days. */
const bounds = { least: 100, most: 1_728_000_000, text: "from 0.1 s to 480 h" };

/** Milliseconds that a run may take; undefined for as many as it needs. UsageError where the flag gives no duration. */
export function timeLimitFrom(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const limit: number | Problem = durationFrom("--max-duration", value, bounds);
  if (typeof limit === "number") return limit;
  throw new UsageError("1 problem with the command line:", [limit]);
}

/** The end of a run whose time is over. */
export class TimeLimit {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(limit: number | undefined, interrupt: (error: InterruptedError) => void) {
    if (limit === undefined) return;
    const time = durationText(limit).replace(/ 0 (h|min|s)$/, "");
    const error = new InterruptedError("SIGTERM", `stopped after ${time}, as --max-duration says`);
    this.#timer = setTimeout(interrupt, limit, error);
  }

  /** A run that publishes is not interrupted any more. */
  committing(state: CommitState): void {
    if (state !== "failed") this.lift();
  }

  lift(): void {
    clearTimeout(this.#timer);
  }
}
