import * as v from "valibot";
import type { Decision } from "../../compare/lost/decisions.js";
import { isMissed, level, planCounts, position, restorePlan } from "../../compare/lost/restore-plan.js";
import { rowMembers } from "../../compare/proof/prove.js";
import { count, listOf, oneOf, orNull, result, text } from "../../schema.js";
import { sharedMembers } from "../result.js";
import type { SessionOptions } from "../session.js";

export interface RestoreOptions extends Omit<SessionOptions, "baseUrl"> {
  /** Folder of a newer run of the same job, to plan without any request. */
  readonly against: string | undefined;
  /** Whether to add manual edits without a known place at the end of their document. */
  readonly addManualEdits: boolean;
  /** A plan file with the owner's decisions. */
  readonly plan: string | undefined;
  readonly planOut: string | undefined;
  /** Base URL of the service to restore to; undefined: the run's service. */
  readonly to: string | undefined;
  /** The service in the owner's settings, which must match the run's unless `to` is given; undefined: they name none. */
  readonly own: OwnService | undefined;
  /** Called before the first write to ask whether to execute the plan. Called only with `apply`. */
  readonly confirm: (planned: RestoreResult) => Promise<Confirmed>;
}

export interface OwnService {
  readonly url: string;
  /** The source of the URL, for messages: the path of the job file, or the name of the variable. */
  readonly place: string;
}

/** The owner's answer to a plan. Without `go`, nothing is written. `decisions`: on rows by id; undefined: use the plan as it is. */
export interface Confirmed {
  readonly go: boolean;
  readonly decisions?: ReadonlyMap<string, Decision> | undefined;
}

/** The restore itself. Throws UsageError if it is refused as a whole; BusyError if another restore of the run is active. */
export type RestoreLost = (options: RestoreOptions) => Promise<RestoreResult>;

/** One row of the older run that a restore wrote or tried to write. */
const appliedRow = result({
  document_id: text,
  level,
  id: text,
  position,
  /** `there`: the document already had it at the time of the write. */
  outcome: oneOf("written", "there", "changed meanwhile", "failed", "still enabled"),
  /** Id in the target; null if nothing was written. */
  target_id: orNull(text),
  /** Why it is not restored, as a sentence; null if it is. */
  reason: orNull(text),
});
export type AppliedRow = v.InferOutput<typeof appliedRow>;
export type RowOutcome = AppliedRow["outcome"];

/**
 * `writes`: all writes of this restore, also those of earlier processes; 0 if this command sent none and no written row belongs to its
 * documents.
 */
const applied = result({ rows: listOf(appliedRow), writes: count });
export type Applied = v.InferOutput<typeof applied>;

/** A difference that the proof found and no plan announced; the id is the one in the target. */
const proofDifference = result({ document_id: text, ...rowMembers });
export type ProofDifference = v.InferOutput<typeof proofDifference>;

/** The result of `restore --json`. Texts may contain anything the service sends. */
export const restoreResult = v.pipe(
  result({
    /**
     * `planned`: nothing was written. `nothing to restore`: there is nothing to write or to choose. `proved`: everything is restored.
     * `partial`: some rows are not, or there was no proof. `different`: the proof found unannounced differences.
     */
    status: oneOf("planned", "nothing to restore", "proved", "partial", "different"),
    ...sharedMembers,
    against: v.pipe(orNull(text), v.description("null: compared with the documents as they were at the service")),
    lost: v.pipe(count, v.description("chunks and child chunks of the run that are lost")),
    manual_edits: v.pipe(
      count,
      v.description("lost rows with evidence that a person had made, edited or disabled them"),
    ),
    plan: restorePlan,
    plan_file: v.pipe(orNull(text), v.description("the plan file that was written")),
    counts: planCounts,
    applied: v.pipe(orNull(applied), v.description("null if nothing was to be written")),
    differences: v.pipe(
      orNull(listOf(proofDifference)),
      v.description("findings of the proof; null if there was none"),
    ),
    undo: v.pipe(orNull(text), v.description("the dump that was made before the first write")),
  }),
  v.title("Result of kbdump restore --json"),
);
export type RestoreResult = v.InferOutput<typeof restoreResult>;

/** Decides the status from the plan, the writes and the proof. */
export function statusOf({
  plan: { documents },
  applied,
  differences,
}: Pick<RestoreResult, "plan" | "applied" | "differences">): RestoreResult["status"] {
  if (differences !== null && differences.length > 0) return "different";
  const hasWritten = applied !== null && (applied.rows.length > 0 || applied.writes > 0);
  const hasPlan = documents.some(
    ({ refused, restores, listed }) => refused !== null || restores.length > 0 || listed.length > 0,
  );
  if (!hasWritten && !hasPlan) return "nothing to restore";
  if (applied === null) return "planned";
  const isUnproved = differences === null && applied.writes > 0;
  const isIncomplete = documents.some(({ refused, listed }) => refused !== null || listed.some(isMissed));
  if (isUnproved || isIncomplete || applied.rows.some(isMissing)) return "partial";
  return hasWritten ? "proved" : "planned";
}

/** Whether a planned row was not restored. */
export function isMissing({ outcome }: AppliedRow): boolean {
  return outcome !== "written" && outcome !== "there";
}
