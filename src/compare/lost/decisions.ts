import type { HistoryUse } from "../history.js";
import type { WhyListed } from "./restore-plan.js";

/** The owner's decision on one row. */
export interface Decision {
  readonly restore: boolean;
  /**
   * The content in the target where the row would go, as the owner saw it: null: there was none; undefined: unknown. If it has
   * changed since, the decision does not count.
   */
  readonly now?: string | null | undefined;
  /** The answer that the owner saw there; null and undefined as for `now`. */
  readonly now_answer?: string | null | undefined;
}

/** The owner's decisions and wishes. */
export interface PlanOptions {
  /** The decisions on rows by id; only rows with a yes are restored. Undefined: kbdump decides by the facts. */
  readonly decisions: ReadonlyMap<string, Decision> | undefined;
  /** Whether to add a manual edit at the end of its document if it is unknown which chunk it belongs to. */
  readonly addManualEdits: boolean;
}

export interface Context extends PlanOptions {
  /** Whether no chunk kept its id. If some did, only people changed the chunks, and a restore would undo their work. */
  readonly reindexed: boolean;
  /** Whether the older run has details of the document. */
  readonly hasDetails: boolean;
  /** Whether the target has no details of the document, though the older run has them. */
  readonly lacksDetails: boolean;
  readonly history: HistoryUse;
}

export const needsDecision = "needs your decision" as const;

/**
 * Why the owner's decision, or its absence, keeps a row from being restored; undefined if it does not. `now`: what the target now
 * has where the row would go; null: nothing.
 */
export function refusedBy(
  { decisions }: Context,
  id: string,
  now: { readonly content: string; readonly answer?: string | null } | null,
): { readonly why: WhyListed; readonly reason: string } | undefined {
  if (!decisions) return undefined;
  const decision = decisions.get(id);
  if (!decision?.restore) return { why: "left out", reason: "You decided to leave it alone." };
  const isSame = decision.now === undefined || decision.now === (now?.content ?? null);
  const isSameAnswer = decision.now_answer === undefined || (decision.now_answer ?? "") === (now?.answer ?? "");
  if (isSame && isSameAnswer) return undefined;
  return { why: needsDecision, reason: "The text in its place changed since you decided." };
}

/** Converts Unix seconds to ISO 8601 in UTC. */
export function timeText(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1_000).toISOString();
}
