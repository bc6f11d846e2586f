import { timeOfRun } from "../dump/run-id.js";
import type { ListedRun, RunList } from "./list-runs.js";

/** The newest complete run of a job, and how old it is. */
export interface Freshness {
  readonly run: ListedRun | undefined;
  /** Milliseconds since it ended; undefined where there is none. */
  readonly age: number | undefined;
  /** Whether it is older than it may be, or there is none. */
  readonly isStale: boolean;
}

/** How fresh a job is at the time `now`; without `maxAge`, in milliseconds, none is stale. */
export function freshnessOf({ runs }: Pick<RunList, "runs">, now: number, maxAge: number | undefined): Freshness {
  const run = runs.find(({ status }) => status === "complete");
  const age = run && now - endOf(run);
  return { run, age, isStale: maxAge !== undefined && (age === undefined || age > maxAge) };
}

/** When a run ended, in milliseconds since 1970; where its manifest does not say, when it began. */
export function endOf({ finishedAt, runId }: Pick<ListedRun, "finishedAt" | "runId">): number {
  return finishedAt ?? timeOfRun(runId) ?? 0;
}
