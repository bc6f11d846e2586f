import { timeOfRun } from "../dump/manifest/run-id.js";
import type { Keep } from "../job/job.js";
import { periodOf } from "./period.js";

/** A published run. */
export interface PastRun {
  /** Names the time at which the run began, as `timeOfRun` reads it. */
  readonly runId: string;
  readonly status: "complete" | "partial";
  /** Whether it has no documents: the service listed none. */
  readonly isEmpty?: boolean;
}

/** A rule of `output.keep`, or the one that holds without it: the newest complete run stays. */
export type KeepRule = "newest" | "last" | "daily" | "weekly" | "monthly";

/** The decision to keep or remove a run, and its reason. */
export interface Decision {
  readonly runId: string;
  readonly status: PastRun["status"];
  readonly keep: boolean;
  /** Every rule that keeps it. */
  readonly rules: readonly KeepRule[];
  /** Every rule that keeps it, or the one sentence why none does. */
  readonly reasons: readonly string[];
}

/**
 * Decides which runs stay, newest first. A run stays if any rule names it: `last` the newest ones, `daily`, `weekly` and
 * `monthly` the newest of each of so many periods in which there is one. The rules look at complete runs alone, so that a
 * partial one never pushes out a complete one; the newest complete run always stays, and the newest with documents in it:
 * a knowledge base that somebody emptied must not take its last dump with it. Partial runs older than that are
 * removed, as it holds what they lack. To those that are newer the same rules apply among themselves.
 */
export function decideRuns(runs: readonly PastRun[], keep: Keep): readonly Decision[] {
  const newestFirst = [...runs].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  const complete = newestFirst.filter(({ status }) => status === "complete");
  const [newest] = complete;
  const filled = complete.find(({ isEmpty = false }) => !isEmpty);
  const partial = newestFirst.filter(({ runId, status }) => status === "partial" && (!newest || runId > newest.runId));
  const reasons = new Map([...reasonsFor(complete, keep), ...reasonsFor(partial, keep)]);
  return newestFirst.map(({ runId, status }) => {
    const always = [
      ...(runId === newest?.runId ? ["newest complete run"] : []),
      ...(runId === filled?.runId && filled !== newest ? ["newest complete run with documents"] : []),
    ].map((text) => ({ rule: "newest" as const, text }));
    const why = [...always, ...(reasons.get(runId) ?? [])];
    const rules = [...new Set(why.map(({ rule }) => rule))];
    if (why.length > 0) return { runId, status, keep: true, rules, reasons: why.map(({ text }) => text) };
    return { runId, status, keep: false, rules, reasons: [reasonAgainst({ runId, status }, newest)] };
  });
}

function reasonAgainst({ runId, status }: PastRun, newest: PastRun | undefined): string {
  if (status === "complete") return "no rule keeps it";
  if (newest && runId < newest.runId) return `partial, and the later run ${newest.runId} is complete`;
  return "no rule keeps it among the partial runs since the newest complete one";
}

interface Reason {
  readonly rule: KeepRule;
  readonly text: string;
}

/** The rules that keep each run, of runs that stand newest first. */
function reasonsFor(runs: readonly PastRun[], keep: Keep): ReadonlyMap<string, readonly Reason[]> {
  const reasons = new Map<string, Reason[]>();
  const add = (runId: string, rule: KeepRule, text: string) =>
    reasons.set(runId, [...(reasons.get(runId) ?? []), { rule, text }]);
  const { last = 0 } = keep;
  for (const [index, { runId }] of runs.slice(0, last).entries())
    add(runId, "last", `last ${last}: number ${index + 1}`);
  for (const rule of ["daily", "weekly", "monthly"] as const) {
    const seen = new Set<string>();
    for (const { runId } of runs) {
      const period = periodOf[rule](timeOfRun(runId) ?? 0);
      if (seen.size >= (keep[rule] ?? 0) || seen.has(period)) continue;
      seen.add(period);
      add(runId, rule, `${rule} ${keep[rule]}: ${period}`);
    }
  }
  return reasons;
}
