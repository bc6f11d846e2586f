import type { ChunkRow } from "../document-rows.js";
import type { HistoryUse } from "../history.js";
import type { LostChunk } from "./read-lost.js";
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

/** Why kbdump does not restore a lost chunk by itself. `isPossible`: whether the owner's yes would help. */
export interface Doubt {
  readonly why: WhyListed;
  readonly reason: string;
  /** The chunk of the target that a restore would overwrite; `added`: a restore would add a chunk. */
  readonly home: ChunkRow | "added";
  /** Whether a request can write the lost text to `home`. */
  readonly isPossible: boolean;
}

/**
 * Why a lost text is left to the owner; undefined if kbdump knows what to write: the chunk that the text replaces is known, or a
 * person added the text.
 */
export function doubtOf(
  { old, base, place, isInside, manual_edit, isInHistory, writtenAs, isDisabled, keywordsBefore }: LostChunk,
  { reindexed, hasDetails, lacksDetails, history }: Context,
): Doubt | undefined {
  const home = base ?? (reindexed && manual_edit !== null ? place : null) ?? "added";
  const isPossible = home === "added" || home.enabled;
  const decide = (reason: string): Doubt => ({ why: needsDecision, reason, home, isPossible });
  if (!isWritable(old)) return { why: "cannot be restored", reason: textless, home, isPossible: false };
  if (base) return base.enabled ? undefined : decide(disabledPlace);
  if (isInside) return { ...decide("Its text occurs inside a chunk of the target."), why: "found inside" };
  if (!reindexed) return decide("The other chunks kept their ids: a person deleted it, not a re-index.");
  if (manual_edit === "added" && writtenAs !== null)
    return { why: needsDecision, reason: writtenBefore("chunk", writtenAs), home: "added", isPossible: true };
  if (manual_edit === "added") return undefined;
  if (manual_edit === "edited" && isInHistory && keywordsBefore === null)
    return decide("The target does not have the text that the edit replaced.");
  if (manual_edit === "edited" && keywordsBefore !== null)
    return decide("A person edited its keywords, and the target does not have its text.");
  if (manual_edit === "edited" && lacksDetails) return decide(needsDetails);
  if (manual_edit === "edited")
    return decide(
      `A person edited it, and the text before the edit is not known: ${unknownTexts[history]}.${hasDetails ? "" : placeless}`,
    );
  if (isDisabled) return decide("A person disabled it, and the target does not have its text.");
  return { ...decide("There is no evidence that a person made or edited it."), why: "left out" };
}

/** Why a row is not restored a second time. */
export function writtenBefore(noun: "chunk" | "child chunk", id: string): string {
  return `A restore wrote it to the ${noun} ${id}, which has another text now.`;
}

/** Why an edit has no place in a newer run that lacks the details of its document. The service may have these details. */
export const needsDetails =
  "A person edited it, and the newer run has no details of this document to find its place with: plan without --against, or make that run with details: true.";

/** Why the history does not have the text before an edit, and what helps the next time. */
const unknownTexts: Readonly<Record<HistoryUse, string>> = {
  used: "the history of the job has no run from before the edit; run the job more often",
  "not used": "the history of the job was not used, as the warning says",
  none: "there is no database of the job, which keeps the history; add duckdb to output.formats",
};
const placeless =
  " Nor do its neighbours show its place, as the run has no details of the document; set details: true.";

const textless = "A part of its text is blank, and the service accepts no such chunk.";

export const disabledPlace = "The chunk that it would change is disabled, and a disabled chunk cannot be changed.";

/** Whether the service accepts a text. */
export function isWritable({ content, answer }: Pick<ChunkRow, "content" | "answer">): boolean {
  return content.trim() !== "" && (answer === null || answer.trim() !== "");
}

/** Converts Unix seconds to ISO 8601 in UTC. */
export function timeText(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1_000).toISOString();
}
