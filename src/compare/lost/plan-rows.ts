import { countOf } from "../../words.js";
import { type ChunkRow, isSameSet } from "../document-rows.js";
import {
  type Context,
  type Doubt,
  disabledPlace,
  doubtOf,
  isWritable,
  needsDecision,
  refusedBy,
  timeText,
} from "./decisions.js";
import { type ChildrenDecision, planFamily } from "./plan-children.js";
import type { LostChunk, LostRows } from "./read-lost.js";
import type {
  ChunkRestore,
  ChunkTexts,
  DocumentPlan,
  Evidence,
  KnownLoss,
  ListedLoss,
  ManualEdit,
  TargetChunk,
} from "./restore-plan.js";

/** The decisions on rows in a document's plan. */
export type RowPlans = Pick<DocumentPlan, "restores" | "listed" | "losses">;

/** Decides on the losses of one document: which rows to write back, and which need the owner's decision. */
export function planRows({ chunks, families, childrenNow }: LostRows, context: Context): RowPlans {
  const left = new Map(families);
  const decided = chunks.map((chunk) => {
    const decision = planChunk(chunk, context);
    const { home, listed } = decision;
    const targets = home === null || home === "added" ? [] : childrenNow(home.id);
    const isOpen = listed !== null && listed.choice !== null;
    const family = planFamily(left.get(chunk.old.id), home, targets, context, isOpen);
    left.delete(chunk.old.id);
    return { chunk, decision, family };
  });
  const orphans = [...left.values()].map((family) => planFamily(family, null, [], context));
  return {
    restores: decided.flatMap(({ chunk, decision, family }) => restoresOf(chunk, decision, family)),
    listed: [
      ...decided.flatMap(({ decision, family }) => [...(decision.listed ? [decision.listed] : []), ...family.listed]),
      ...orphans.flatMap(({ listed }) => listed),
    ],
    losses: decided.flatMap(({ decision }) => decision.losses),
  };
}

function restoresOf(
  { old, equal, manual_edit }: LostChunk,
  { home, texts, disable, evidence }: ChunkDecision,
  { children }: ChildrenDecision,
): readonly ChunkRestore[] {
  if (home === null || (texts === null && !disable && children.length === 0)) return [];
  const target = home === "added" ? null : targetOf(home);
  const { id, position } = old;
  const edit = editOf(old, manual_edit);
  return [
    { chunk_id: id, position, edit, evidence, target, texts, equal: texts === null ? 0 : equal, disable, children },
  ];
}

function targetOf({ id, position, enabled, status, content, answer, keywords }: ChunkRow): TargetChunk {
  return { id, position, enabled, status, content, answer, keywords };
}

/** The decision on one chunk, without its children. */
interface ChunkDecision {
  /** The chunk of the target that has or will get the lost text; `added`: a new chunk will get it; null: no chunk has or gets it. */
  readonly home: ChunkRow | "added" | null;
  readonly texts: ChunkTexts | null;
  readonly disable: boolean;
  readonly evidence: readonly Evidence[];
  readonly listed: ListedLoss | null;
  readonly losses: readonly KnownLoss[];
}

function nothing(home: ChunkRow | null = null): ChunkDecision {
  return { home, texts: null, disable: false, evidence: [], listed: null, losses: [] };
}

function planChunk(chunk: LostChunk, context: Context): ChunkDecision {
  const { old, lost, manual_edit, pair, base } = chunk;
  if (lost.text && manual_edit === null && !context.decisions?.get(old.id)?.restore) return nothing();
  if (lost.text) return planText(chunk, context);
  if (pair && (lost.keywords || lost.disabled)) return planSettings(chunk, pair, context);
  return nothing(pair ?? base);
}

/** Decides on a chunk whose text is still in the target, under another id: only its keywords or its disabled state are lost. */
function planSettings(chunk: LostChunk, row: ChunkRow, context: Context): ChunkDecision {
  const { old, lost, keywordsBefore } = chunk;
  const disable = lost.disabled;
  const refused = refusedBy(context, old.id, row);
  if (refused) return list(chunk, { ...refused, home: row, isPossible: row.enabled && isWritable(old) }, row);
  const there = { ...nothing(row), disable, evidence: evidenceOf(chunk, { texts: false, disable }) };
  if (!lost.keywords) return there;
  if (!old.keywords?.length) return { ...there, losses: [emptiedKeywords(old)] };
  const isBefore = !row.keywords?.length || (keywordsBefore !== null && isSameSet(keywordsBefore, row.keywords));
  const isPossible = row.enabled && isWritable(old);
  if (isPossible && (isBefore || context.decisions))
    return {
      ...there,
      texts: textsOf(old),
      evidence: evidenceOf(chunk, { texts: true, disable }),
      losses: lossesOf(old, row, null),
    };
  const reason = isBefore
    ? disabledPlace
    : "Its keywords were edited, and the target has other keywords than before the edit.";
  const doubt = { why: needsDecision, reason, home: row, isPossible };
  return { ...list(chunk, doubt, row), disable, evidence: there.evidence };
}

/** Decides on a chunk whose text is missing from the target. */
function planText(chunk: LostChunk, context: Context): ChunkDecision {
  const { decisions, addManualEdits } = context;
  const { old, base, byNeighbours } = chunk;
  const doubt = doubtOf(chunk, context);
  if (doubt?.why === "cannot be restored") return list(chunk, doubt);
  if (decisions) {
    const home = doubt ? doubt.home : (base ?? "added");
    if (doubt && !decisions.has(old.id)) return list(chunk, doubt);
    const refused = refusedBy(context, old.id, home === "added" ? null : home);
    if (refused) return list(chunk, { ...refused, home, isPossible: doubt?.isPossible ?? true });
    if (doubt) return doubt.isPossible ? restored(chunk, home, ["chosen"]) : list(chunk, doubt);
  }
  if (!doubt) {
    const evidence = evidenceOf(chunk, { texts: true, disable: chunk.isDisabled, byNeighbours });
    return restored(chunk, base ?? "added", evidence);
  }
  const isAdded = addManualEdits && doubt.why === needsDecision && chunk.manual_edit !== "disabled";
  return isAdded ? restored(chunk, "added", ["chosen"]) : list(chunk, doubt);
}

/**
 * Leaves a lost row to the owner. `standing`: the chunk of the target to which the lost child chunks of this row belong; null if
 * there is none.
 */
function list(
  { old, manual_edit }: LostChunk,
  { why, reason, home, isPossible }: Doubt,
  standing: ChunkRow | null = null,
): ChunkDecision {
  const { id, position, content, answer } = old;
  const [now, now_answer] = home === "added" ? [null, null] : [home.content, home.answer];
  const choice = !isPossible ? null : home === "added" ? "add" : "replace";
  const edit = editOf(old, manual_edit);
  return {
    ...nothing(standing),
    listed: {
      level: "chunk",
      id,
      segment_id: null,
      position,
      edit,
      why,
      reason,
      content,
      answer,
      now,
      now_answer,
      choice,
    },
  };
}

function restored(chunk: LostChunk, home: ChunkRow | "added", evidence: readonly Evidence[]): ChunkDecision {
  const { old, isDisabled, keywordsBefore } = chunk;
  const losses = lossesOf(old, home === "added" ? null : home, keywordsBefore);
  return { ...nothing(), home, evidence, texts: textsOf(old), disable: isDisabled, losses };
}

/** The texts to write. No request can empty keywords, so without keywords those of the target stay. */
function textsOf({ content, answer, keywords }: ChunkRow): ChunkTexts {
  return { content, answer, keywords: keywords?.length ? keywords : null };
}

/** The parts of a chunk to write, and whether its place is known only from its neighbours. */
interface Writes {
  readonly texts: boolean;
  readonly disable: boolean;
  readonly byNeighbours?: boolean;
}

/** The evidence for a write: that a person made the edit, and which text was there before. */
function evidenceOf(
  { old, isLate, isInHistory }: LostChunk,
  { texts, disable, byNeighbours = false }: Writes,
): readonly Evidence[] {
  const evidence: Evidence[] = [];
  if (texts && old.updated_by !== null) evidence.push("updated_by");
  if (texts && isLate) evidence.push("created_at");
  if (disable && old.disabled_by !== null) evidence.push("disabled_by");
  if ((texts && isInHistory) || (disable && old.disabled_by === null)) evidence.push("history");
  if (texts && byNeighbours) evidence.push("neighbours");
  return evidence;
}

/** Who made the edit, and when, as reported by the service. */
function editOf(
  { created_by, updated_by, disabled_by, created_at, updated_at, disabled_at }: ChunkRow,
  kind: LostChunk["manual_edit"],
): ManualEdit | null {
  if (kind === null) return null;
  if (kind === "added") return { kind, by: created_by, at: timeText(created_at) };
  if (kind === "disabled") return { kind, by: disabled_by, at: timeText(disabled_at) };
  return { kind, by: updated_by, at: timeText(updated_at) };
}

/** The parts of a chunk that are not restored with its text. `target`: the chunk that gets the text; null: a new one. */
function lossesOf(
  old: ChunkRow,
  target: ChunkRow | null,
  keywordsBefore: readonly string[] | null,
): readonly KnownLoss[] {
  const losses: KnownLoss[] = [];
  if (keywordsBefore && !old.keywords?.length && target?.keywords?.length) losses.push(emptiedKeywords(old));
  const unbound = old.attachment_ids.filter((id) => !target?.attachment_ids.includes(id)).length;
  if (unbound > 0)
    losses.push(lossOf(old, "attachments", `${countOf(unbound, "attachment")} cannot be attached to it again.`));
  if (old.summary !== null && old.summary !== target?.summary)
    losses.push(lossOf(old, "summary", "Its summary is not restored."));
  return losses;
}

/** The loss of an edit that removed all keywords: no request can empty keywords. */
function emptiedKeywords(old: ChunkRow): KnownLoss {
  return lossOf(old, "keywords", "A person removed all of its keywords, and no request can do that again.");
}

function lossOf({ id, position }: ChunkRow, part: KnownLoss["part"], reason: string): KnownLoss {
  return { level: "chunk", id, position, part, reason };
}
