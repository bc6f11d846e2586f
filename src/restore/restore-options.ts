import { isMissed, type PlanCounts, type RestorePlan } from "../compare/lost/restore-plan.js";
import { exitCodes } from "../errors.js";
import type { RunTally } from "../job/run-tally.js";

import type { TargetService } from "./target.js";

/** The settings of `restore --lost`, checked. Ids are in lower case, times in milliseconds. */
export interface RestoreOptions extends Omit<TargetService, "baseUrl"> {
  /** Folder of the older run. */
  readonly folder: string;
  /** Folder of a newer run of the same job, to plan against without a request. */
  readonly against: string | undefined;
  /** Documents to restore, whether or not they have a sign of a hand; none: every document that has one. */
  readonly documents: readonly string[];
  /** Chunks and child chunks of the older run that the owner chose. */
  readonly chunks: readonly string[];
  /** Whether chunks that were added by hand and then disabled are added, too. */
  readonly addDisabled: boolean;
  readonly apply: boolean;
  /** Base URL of the service to restore to; undefined: the one that the run came from. */
  readonly to: string | undefined;
  /** The service that the owner's own settings name, which a run must come from unless `to` is given; undefined: they name none. */
  readonly own: OwnService | undefined;
  /** Time that one write may take. */
  readonly timeout: number;
  /** Time in which the effect of a lost answer may still show up. */
  readonly settle: number;
  /** How long the service may lock a document while it adds chunks, in milliseconds. */
  readonly lockTime: number;
  /** Updated while the work goes on. */
  readonly tally: RestoreTally;
  /** Asks, before the first write, whether to go on with the plan. Called only with `apply`. */
  readonly confirm: (planned: RestoreResult) => Promise<Confirmed>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** A service that a job file or the environment names. */
export interface OwnService {
  readonly url: string;
  /** The job file or the variable. */
  readonly place: string;
}

/** The answer of the owner to a plan. */
export interface Confirmed {
  /** False: nothing is written, and the result is `planned`. */
  readonly go: boolean;
  /** Ids of listed rows to restore, too, as if they had been in `chunks`. */
  readonly chosen: readonly string[];
}

/** The restore itself. UsageError where it is refused as a whole; BusyError where another restore of the run is at work. */
export type RestoreLost = (options: RestoreOptions) => Promise<RestoreResult>;

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
type RestoreStatus = "planned" | "nothing lost" | "proved" | "partial" | "different";

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

function isIncomplete({ refused, listed }: RestorePlan["documents"][number]): boolean {
  return refused !== null || listed.some(isMissed);
}

function isNothingLost({ documents }: RestorePlan): boolean {
  return documents.every(
    ({ refused, restores, listed }) => refused === null && restores.length === 0 && listed.length === 0,
  );
}

/** The steps of a restore, in their order. */
type RestoreStep = "reading the run" | "reading the documents as they stand" | "planning" | "writing" | "proving";

/** How far a restore is. */
export interface RestoreTally {
  step: RestoreStep;
  /** Chunks that the plan changes, or whose children it changes, and those of them that are done. */
  chunks: number;
  chunksDone: number;
  /** Chunks that wait until the service takes changes of them. */
  waiting: number;
  /** The dump that is being made of the documents; undefined while there is none. */
  dump: RunTally | undefined;
}

/** A tally of nothing yet. */
export function emptyRestoreTally(): RestoreTally {
  return { step: "reading the run", chunks: 0, chunksDone: 0, waiting: 0, dump: undefined };
}

/** The outcome of one planned row. `there`: the document had it already when its turn came. */
export type RowOutcome = "written" | "there" | "changed meanwhile" | "failed" | "still enabled";

/** One row of the older run that a restore wrote, or meant to write. */
export interface AppliedRow {
  readonly document_id: string;
  readonly level: "chunk" | "child_chunk";
  /** Id in the older run. */
  readonly id: string;
  readonly position: number | null;
  readonly outcome: RowOutcome;
  /** Id in the target; null where nothing was written. */
  readonly target_id: string | null;
  /** Why it is not restored, as a sentence; null where it is. */
  readonly reason: string | null;
}

/** Everything that the writes of a restore came to. */
export interface Applied {
  readonly rows: readonly AppliedRow[];
  /** Write requests sent, those of earlier processes of the same journal included. */
  readonly writes: number;
}

/** A difference that the proof found and nobody announced. */
export interface ProofDifference {
  readonly document_id: string;
  readonly level: "chunk" | "child_chunk";
  /** Id in the target. */
  readonly id: string;
  readonly position: number | null;
  /** The difference as a sentence. */
  readonly reason: string;
}
