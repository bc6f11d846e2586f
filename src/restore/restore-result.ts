import { exitCodes } from "../errors.js";
import type { Applied, AppliedRow, ProofDifference } from "./applied.js";
import type { ListedLoss, PlanCounts, RestorePlan } from "./restore-plan.js";

/** The result of `restore --lost`, as it is printed and as programs get it. Texts may hold anything that a service sends. */
export interface RestoreResult {
  readonly status: RestoreStatus;
  /** The older run, whose rows are brought back. */
  readonly run: { readonly folder: string; readonly job: string; readonly run_id: string };
  /** The service that is restored to. */
  readonly base_url: string;
  /** The folder of the newer run that the plan is made against; null: the documents as they stood at the service. */
  readonly against: string | null;
  readonly plan: RestorePlan;
  readonly counts: PlanCounts;
  /** Null: nothing was to be written, only planned. */
  readonly applied: Applied | null;
  /** The findings of the proof; null where there was none. */
  readonly differences: readonly ProofDifference[] | null;
  /** The folder of the dump that was made before the first write; null where nothing was to be written. */
  readonly undo: string | null;
  /** The path of the journal; null where nothing was to be written. */
  readonly journal: string | null;
  readonly warnings: readonly string[];
}

/**
 * `planned`: nothing was written. `nothing lost`: there is nothing to write or to choose. `proved`: everything is back. `partial`:
 * some rows are not, or nothing could prove it. `different`: the proof found what nobody announced.
 */
export type RestoreStatus = "planned" | "nothing lost" | "proved" | "partial" | "different";

type Outcome = Pick<RestoreResult, "plan" | "applied" | "differences">;

/** Decides the status from what was planned, written and found. */
export function statusOf({ plan, applied, differences }: Outcome): RestoreStatus {
  if (differences !== null && differences.length > 0) return "different";
  const hasWritten = applied !== null && (applied.rows.length > 0 || applied.writes > 0);
  if (!hasWritten && isNothingLost(plan)) return "nothing lost";
  if (applied === null) return "planned";
  const isUnproved = differences === null && applied.writes > 0;
  if (isUnproved || applied.rows.some(isMissing) || plan.documents.some(isIncomplete)) return "partial";
  return hasWritten ? "proved" : "planned";
}

/** The exit code of a result. A plan exits with 0, whatever it leaves alone. */
export function exitCodeOf({ status }: Pick<RestoreResult, "status">): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}

/** Whether a planned row did not come back. */
export function isMissing({ outcome }: AppliedRow): boolean {
  return outcome !== "written" && outcome !== "there";
}

/** Whether a row that is left to its owner was certainly made by hand, so that a restore without it is partial. */
export function isMissed({ why }: ListedLoss): boolean {
  return why !== "no evidence" && why !== "disabled";
}

function isIncomplete({ refused, listed }: RestorePlan["documents"][number]): boolean {
  return refused !== null || listed.some(isMissed);
}

function isNothingLost({ documents }: RestorePlan): boolean {
  return documents.every(
    ({ refused, restores, listed }) => refused === null && restores.length === 0 && listed.length === 0,
  );
}
