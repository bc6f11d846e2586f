import { exitCodes } from "../errors.js";
import type { MoveCounts, MovePlan } from "./move-plan.js";
import type { MoveDifference, Moved } from "./moved.js";

/** The result of `restore --to`, as it is printed and as programs get it. Texts may hold anything that a service sends. */
export interface MoveResult {
  readonly status: MoveStatus;
  readonly run: { readonly folder: string; readonly job: string; readonly run_id: string };
  /** The service that takes the documents. */
  readonly base_url: string;
  readonly plan: MovePlan;
  readonly counts: MoveCounts;
  /** Null: nothing was to be written, only planned. */
  readonly applied: Moved | null;
  /** The findings of the proof; null where there was none. */
  readonly differences: readonly MoveDifference[] | null;
  /** The folder of the dump that proves the move; null where there was none. */
  readonly proof: string | null;
  /** The path of the journal; null where nothing was to be written. */
  readonly journal: string | null;
  readonly warnings: readonly string[];
}

/**
 * `planned`: nothing was written. `proved`: everything is there. `partial`: some documents or rows are not, or nothing could prove it.
 * `different`: the proof found what nobody announced.
 */
export type MoveStatus = "planned" | "proved" | "partial" | "different";

type Outcome = Pick<MoveResult, "plan" | "applied" | "differences">;

/** Decides the status from what was planned, written and found. */
export function statusOf({ plan, applied, differences }: Outcome): MoveStatus {
  if (applied === null) return "planned";
  if (differences !== null && differences.length > 0) return "different";
  const isLeftOut = plan.datasets.some(({ documents }) => documents.some(({ refused }) => refused !== null));
  const isMissing = applied.documents.some(({ outcome }) => outcome !== "restored") || applied.problems.length > 0;
  return isLeftOut || isMissing || differences === null ? "partial" : "proved";
}

/** The exit code of a result. A plan exits with 0, whatever it leaves out. */
export function exitCodeOf({ status }: Pick<MoveResult, "status">): number {
  if (status === "different") return exitCodes.differences;
  return status === "partial" ? exitCodes.partial : exitCodes.complete;
}
