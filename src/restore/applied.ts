import type { WhyListed } from "./restore-plan.js";

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

/** Counts of the rows that were left to the owner, by reason. */
export type ListedCounts = Readonly<Record<WhyListed, number>>;
