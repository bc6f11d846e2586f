import type { ChunkRow } from "../document-rows.js";
import type { ChunkTexts, Evidence, KnownLoss, ListedLoss, WhyListed } from "../restore-plan.js";
import { isSameSet } from "../same-set.js";
import { evidenceOf, isBlank, isSigned, isWritable, wasDisabled } from "./hand.js";
import { emptiedKeywords, lossesOf } from "./known-losses.js";
import type { Study } from "./study.js";

/** The wishes of the owner. */
export interface PlanOptions {
  /** Ids of lost chunks and child chunks to bring back without proof. */
  readonly chosen: ReadonlySet<string>;
  /** Adds chunks that were added by hand and then disabled, too; they are disabled again. */
  readonly addDisabled: boolean;
}

/** The decision on one chunk, its children left out. */
export interface ChunkDecision {
  readonly old: ChunkRow;
  /** The chunk of the target that has its text, or takes it; `added`: a new one does. Null: there is none. */
  readonly home: ChunkRow | "added" | null;
  readonly texts: ChunkTexts | null;
  readonly disable: boolean;
  readonly evidence: readonly Evidence[];
  readonly listed: ListedLoss | null;
  readonly losses: readonly KnownLoss[];
  /** Whether it has a sign of a hand, and nothing of it is lost. */
  readonly present: boolean;
}

/** A lost chunk, before the owner was heard. */
interface Loss {
  readonly why: WhyListed;
  readonly reason: string;
  /** The chunk that it may replace; it is added where there is none. */
  readonly place: ChunkRow | undefined;
}

/** Decides on one chunk of the older run. */
export function planChunk(old: ChunkRow, study: Study, options: PlanOptions): ChunkDecision {
  const pair = study.pairOf(old);
  if (pair?.by === "text") return planPaired(old, pair.row, study, options);
  if (pair) return planKept(old, pair.row, study, options);
  return planUnpaired(old, study, options);
}

/** A chunk that kept its id: no re-index took anything of it. */
function planKept(old: ChunkRow, row: ChunkRow, study: Study, options: PlanOptions): ChunkDecision {
  const isSame = old.content === row.content && old.answer === row.answer;
  if (isSame || !isSigned(study.handOf(old))) return standing(old, row, study);
  const reason = "It kept its id: a person changed it since, not a re-index.";
  return { ...planLoss(old, { why: "no evidence", reason, place: row }, study, options), home: row };
}

/** A chunk whose text stands in the target under another id: its keywords, and that it is disabled, may be lost. */
function planPaired(old: ChunkRow, row: ChunkRow, study: Study, options: PlanOptions): ChunkDecision {
  const { keywordsBefore, disabled } = study.handOf(old);
  const disable = disabled && row.enabled;
  const there = { ...standing(old, row, study), disable, evidence: evidenceOf(old, { texts: false, disable }) };
  if (keywordsBefore === undefined || isSameSet(old.keywords, row.keywords))
    return disable ? { ...there, present: false } : there;
  const lost = { ...there, present: false };
  if (!old.keywords?.length) return { ...lost, losses: [emptiedKeywords(old)] };
  const isBefore = !row.keywords?.length || isSameSet(keywordsBefore, row.keywords);
  if (isBefore && row.enabled && isWritable(old)) {
    const evidence = evidenceOf(old, { texts: true, disable });
    return { ...lost, texts: textsOf(old), evidence, losses: lossesOf(old, row, undefined) };
  }
  const reason = isBefore
    ? disabledPlace
    : "Its keywords were edited, and the target has others than those before the edit.";
  const conflict = planLoss(old, { why: "conflict", reason, place: row }, study, options);
  return { ...conflict, home: row, disable, evidence: [...there.evidence, ...conflict.evidence] };
}

const disabledPlace = "The chunk that it would change is disabled, and a disabled chunk takes no change.";

/** A chunk whose text is no chunk of the target. */
function planUnpaired(old: ChunkRow, study: Study, options: PlanOptions): ChunkDecision {
  const { origin, disabled } = study.handOf(old);
  const base = study.baseOf(old);
  const lose = (why: WhyListed, reason: string, place = study.placeOf(old)) =>
    planLoss(old, { why, reason, place }, study, options);
  if (base && !base.enabled) return lose("conflict", disabledPlace, base);
  if (base) {
    const evidence = evidenceOf(old, { texts: true, disable: disabled });
    return { ...restored(old, base, evidence, study), disable: disabled };
  }
  if (study.isInside(old)) return standing(old, null, study);
  if (!study.reindexed)
    return lose("no evidence", "The other chunks kept their ids: a person deleted it, not a re-index.");
  if (origin === "added") {
    if (wasDisabled(old) && !options.addDisabled) return lose("disabled", "It was added by hand, and then disabled.");
    if (isWritable(old)) return restored(old, "added", evidenceOf(old, { texts: true, disable: false }), study);
  }
  return lose(...whyUnproved(old, study));
}

/** The reason for a lost chunk that cannot be written without its owner. */
function whyUnproved(old: ChunkRow, study: Study): readonly [why: WhyListed, reason: string] {
  const { origin, disabled, keywordsBefore, late } = study.handOf(old);
  if (origin === "edited") return ["conflict", "The target does not have the text that the edit replaced."];
  if (origin === "unknown") return ["unknown before", "A person edited it, and no run has the text before the edit."];
  if (disabled) return ["conflict", "A person disabled it, and the target does not have its text."];
  if (keywordsBefore) return ["conflict", "A person edited its keywords, and the target does not have its text."];
  if (late)
    return ["no evidence", "It was created after the document was indexed, but nothing proves that a person made it."];
  return ["no evidence", "Nothing proves that a person made or edited it."];
}

/** A loss is listed, unless the owner chose it and a request can bring it back. */
function planLoss(old: ChunkRow, { why, reason, place }: Loss, study: Study, options: PlanOptions): ChunkDecision {
  const isPossible = isWritable(old) && place?.enabled !== false;
  if (isPossible && options.chosen.has(old.id)) return restored(old, place ?? "added", ["chosen"], study);
  if (isBlank(old.content) && !isSigned(study.handOf(old))) return nothing(old);
  const choice = !isPossible ? null : place ? "replace" : "add";
  const told = isWritable(old) ? { why, reason } : { why: "no evidence" as const, reason: textless };
  const { id, position, content } = old;
  const now = place?.content ?? null;
  return { ...nothing(old), listed: { level: "chunk", id, segment_id: null, position, ...told, content, now, choice } };
}

const textless = "A part of its text is blank, and the service takes no such chunk.";

function nothing(old: ChunkRow): ChunkDecision {
  const none = { home: null, texts: null, disable: false, evidence: [], listed: null, losses: [], present: false };
  return { old, ...none };
}

function standing(old: ChunkRow, home: ChunkRow | null, study: Study): ChunkDecision {
  return { ...nothing(old), home, present: isSigned(study.handOf(old)) };
}

function restored(old: ChunkRow, home: ChunkRow | "added", evidence: readonly Evidence[], study: Study): ChunkDecision {
  const losses = lossesOf(old, home === "added" ? null : home, study.handOf(old).keywordsBefore);
  return { ...nothing(old), home, evidence, texts: textsOf(old), disable: wasDisabled(old), losses };
}

/** No request empties keywords: without any, those of the target stay. */
function textsOf({ content, answer, keywords }: ChunkRow): ChunkTexts {
  return { content, answer, keywords: keywords?.length ? keywords : null };
}
