import { countOf } from "../../words.js";
import { type ChildRow, type ChunkRow, type DocumentRows, groupRows, isSameSet } from "../document-rows.js";
import {
  compareWithTarget,
  type DocumentComparison,
  inOrder,
  pairRows,
  placesByNeighbours,
} from "./document-comparison.js";
import type { DocumentHistory } from "./evidence.js";
import { childEditsOf, evidenceOf, hasManualEdits, isBlank, isWritable, wasDisabled } from "./manual-edits.js";
import type {
  ChildRestore,
  ChunkRestore,
  ChunkTexts,
  DocumentPlan,
  Evidence,
  KnownLoss,
  ListedLoss,
  TargetChunk,
  WhyListed,
} from "./restore-plan.js";

/**
 * Decides on one document: which rows that people made or changed stand in the target no more, which of them are written back, and
 * which are left to the owner. `history` knows the older run and those before it. The order of the rows does not matter.
 */
export function planDocument(
  old: DocumentRows,
  history: DocumentHistory,
  target: DocumentRows,
  options: PlanOptions & { readonly document_name: string | null },
): DocumentPlan {
  const refused = refusalOf(old, target);
  if (refused !== null) return refusedPlan(old, options.document_name, refused);
  const comparison = compareWithTarget(old, history, target);
  const { reindexed, indexed } = comparison;
  const below = { history, reindexed, indexed, chosen: options.chosen };
  const decisions = comparison.olds.map((chunk) => planChunk(chunk, comparison, options));
  const [olds, targets] = [childrenBelow(old), childrenBelow(target)];
  const decided = decisions.map((decision) => {
    const { home, old } = decision;
    const family = { olds: olds(old.id), home, targets: home === null || home === "added" ? [] : targets(home.id) };
    return {
      ...decision,
      family: planChildren(family, below),
    };
  });
  const parents = new Set(comparison.olds.map(({ id }) => id));
  const orphans = planChildren(
    { olds: old.children.filter(({ segment_id }) => !parents.has(segment_id)), home: null, targets: [] },
    below,
  );
  return {
    ...headOf(old, options.document_name),
    refused: null,
    restores: decided.flatMap((decision) => restoresOf(decision, comparison)),
    listed: [
      ...decided.flatMap(({ listed, family }) => [...(listed ? [listed] : []), ...family.listed]),
      ...orphans.listed,
    ],
    losses: decided.flatMap(({ losses }) => losses),
    present: decided.reduce((sum, { present, family }) => sum + Number(present) + family.present, 0),
  };
}

/** The plan of a document that nothing may be written to. */
export function refusedPlan(
  document: Pick<DocumentPlan, "dataset_id" | "document_id" | "doc_form">,
  document_name: string | null,
  refused: string,
): DocumentPlan {
  return { ...headOf(document, document_name), refused, restores: [], listed: [], losses: [], present: 0 };
}

function headOf(
  { dataset_id, document_id, doc_form }: Pick<DocumentPlan, "dataset_id" | "document_id" | "doc_form">,
  document_name: string | null,
) {
  return { dataset_id, document_id, document_name, doc_form };
}

/** Texts of one form mean something else in another. */
function refusalOf(old: DocumentRows, target: DocumentRows): string | null {
  if (old.doc_form === null || target.doc_form === null || old.doc_form === target.doc_form) return null;
  return `It was ${old.doc_form} and is ${target.doc_form} now: its chunks cannot be compared.`;
}

function childrenBelow({ children }: DocumentRows): (chunk: string) => readonly ChildRow[] {
  const groups = groupRows(children, ({ segment_id }) => segment_id);
  return (chunk) => groups.get(chunk) ?? [];
}

function restoresOf(
  decision: ChunkDecision & { readonly family: ChildrenDecision },
  { equalTo }: DocumentComparison,
): readonly ChunkRestore[] {
  const { old, home, texts, disable, evidence, family } = decision;
  if (home === null || (texts === null && !disable && family.children.length === 0)) return [];
  const target = home === "added" ? null : targetOf(home);
  const { id, position } = old;
  const equal = texts === null ? 0 : equalTo(old);
  return [{ chunk_id: id, position, evidence, target, texts, equal, disable, children: family.children }];
}

function targetOf({ id, position, enabled, status, content, answer, keywords }: ChunkRow): TargetChunk {
  return { id, position, enabled, status, content, answer, keywords };
}

/** The wishes of the owner. */
export interface PlanOptions {
  /** Ids of lost chunks and child chunks to restore without proof. */
  readonly chosen: ReadonlySet<string>;
  /** Adds chunks that were added by hand and then disabled, too; they are disabled again. */
  readonly addDisabled: boolean;
}

/** The decision on one chunk, its children left out. */
interface ChunkDecision {
  readonly old: ChunkRow;
  /** The chunk of the target that has its text, or takes it; `added`: a new one does. Null: there is none. */
  readonly home: ChunkRow | "added" | null;
  readonly texts: ChunkTexts | null;
  readonly disable: boolean;
  readonly evidence: readonly Evidence[];
  readonly listed: ListedLoss | null;
  readonly losses: readonly KnownLoss[];
  /** Whether it has manual edits, and none of them is lost. */
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
function planChunk(old: ChunkRow, comparison: DocumentComparison, options: PlanOptions): ChunkDecision {
  const pair = comparison.pairOf(old);
  if (pair?.by === "text") return planPaired(old, pair.row, comparison, options);
  if (pair) return planKept(old, pair.row, comparison, options);
  return planUnpaired(old, comparison, options);
}

/** A chunk that kept its id: no re-index took anything of it. */
function planKept(old: ChunkRow, row: ChunkRow, comparison: DocumentComparison, options: PlanOptions): ChunkDecision {
  const isSame = old.content === row.content && old.answer === row.answer;
  if (isSame || !hasManualEdits(comparison.editsOf(old))) return standing(old, row, comparison);
  const reason = "It kept its id: a person changed it since, not a re-index.";
  return { ...planLoss(old, { why: "no evidence", reason, place: row }, comparison, options), home: row };
}

/** A chunk whose text stands in the target under another id: its keywords, and that it is disabled, may be lost. */
function planPaired(old: ChunkRow, row: ChunkRow, comparison: DocumentComparison, options: PlanOptions): ChunkDecision {
  const edits = comparison.editsOf(old);
  const { keywordsBefore } = edits;
  const disable = edits.disabled && row.enabled;
  const there = {
    ...standing(old, row, comparison),
    disable,
    evidence: evidenceOf(old, edits, { texts: false, disable }),
  };
  if (keywordsBefore === undefined || isSameSet(old.keywords, row.keywords))
    return disable ? { ...there, present: false } : there;
  const lost = { ...there, present: false };
  if (!old.keywords?.length) return { ...lost, losses: [emptiedKeywords(old)] };
  const isBefore = !row.keywords?.length || isSameSet(keywordsBefore, row.keywords);
  if (isBefore && row.enabled && isWritable(old)) {
    const evidence = evidenceOf(old, edits, { texts: true, disable });
    return { ...lost, texts: textsOf(old), evidence, losses: lossesOf(old, row, undefined) };
  }
  const reason = isBefore
    ? disabledPlace
    : "Its keywords were edited, and the target has others than those before the edit.";
  const conflict = planLoss(old, { why: "conflict", reason, place: row }, comparison, options);
  return { ...conflict, home: row, disable, evidence: [...there.evidence, ...conflict.evidence] };
}

const disabledPlace = "The chunk that it would change is disabled, and a disabled chunk takes no change.";

/** A chunk whose text is no chunk of the target. */
function planUnpaired(old: ChunkRow, comparison: DocumentComparison, options: PlanOptions): ChunkDecision {
  const edits = comparison.editsOf(old);
  const { origin, disabled } = edits;
  const base = comparison.baseOf(old);
  const lose = (why: WhyListed, reason: string, place = comparison.placeOf(old)) =>
    planLoss(old, { why, reason, place }, comparison, options);
  if (base && !base.enabled) return lose("conflict", disabledPlace, base);
  if (base) {
    const byNeighbours = comparison.isPlacedByNeighbours(old);
    const evidence = evidenceOf(old, edits, { texts: true, disable: disabled, byNeighbours });
    return { ...restored(old, base, evidence, comparison), disable: disabled };
  }
  if (comparison.isInside(old)) return standing(old, null, comparison);
  if (!comparison.reindexed)
    return lose("no evidence", "The other chunks kept their ids: a person deleted it, not a re-index.");
  if (origin === "added") {
    if (wasDisabled(old) && !options.addDisabled) return lose("disabled", "It was added by hand, and then disabled.");
    if (isWritable(old))
      return restored(old, "added", evidenceOf(old, edits, { texts: true, disable: false }), comparison);
  }
  return lose(...whyUnproved(old, comparison));
}

/** The reason for a lost chunk that cannot be written without its owner. */
function whyUnproved(old: ChunkRow, comparison: DocumentComparison): readonly [why: WhyListed, reason: string] {
  const { origin, disabled, keywordsBefore } = comparison.editsOf(old);
  if (origin === "edited") return ["conflict", "The target does not have the text that the edit replaced."];
  if (origin === "unknown") return ["unknown before", "A person edited it, and no run has the text before the edit."];
  if (disabled) return ["conflict", "A person disabled it, and the target does not have its text."];
  if (keywordsBefore) return ["conflict", "A person edited its keywords, and the target does not have its text."];
  return ["no evidence", "Nothing proves that a person made or edited it."];
}

/** A loss is listed, unless the owner chose it and a request can restore it. */
function planLoss(
  old: ChunkRow,
  { why, reason, place }: Loss,
  comparison: DocumentComparison,
  options: PlanOptions,
): ChunkDecision {
  const isPossible = isWritable(old) && place?.enabled !== false;
  if (isPossible && options.chosen.has(old.id)) return restored(old, place ?? "added", ["chosen"], comparison);
  if (isBlank(old.content) && !hasManualEdits(comparison.editsOf(old))) return nothing(old);
  const choice = !isPossible ? null : place ? "replace" : "add";
  const cause = isWritable(old) ? { why, reason } : { why: "no evidence" as const, reason: textless };
  const { id, position, content } = old;
  const now = place?.content ?? null;
  return {
    ...nothing(old),
    listed: { level: "chunk", id, segment_id: null, position, ...cause, content, now, choice },
  };
}

const textless = "A part of its text is blank, and the service takes no such chunk.";

function nothing(old: ChunkRow): ChunkDecision {
  const none = { home: null, texts: null, disable: false, evidence: [], listed: null, losses: [], present: false };
  return { old, ...none };
}

function standing(old: ChunkRow, home: ChunkRow | null, comparison: DocumentComparison): ChunkDecision {
  return { ...nothing(old), home, present: hasManualEdits(comparison.editsOf(old)) };
}

function restored(
  old: ChunkRow,
  home: ChunkRow | "added",
  evidence: readonly Evidence[],
  comparison: DocumentComparison,
): ChunkDecision {
  const losses = lossesOf(old, home === "added" ? null : home, comparison.editsOf(old).keywordsBefore);
  return { ...nothing(old), home, evidence, texts: textsOf(old), disable: wasDisabled(old), losses };
}

/** No request empties keywords: without any, those of the target stay. */
function textsOf({ content, answer, keywords }: ChunkRow): ChunkTexts {
  return { content, answer, keywords: keywords?.length ? keywords : null };
}

/** The child chunks of one chunk, and those of the chunk of the target that has its text or takes it. */
interface Family {
  readonly olds: readonly ChildRow[];
  readonly home: ChunkRow | "added" | null;
  readonly targets: readonly ChildRow[];
}

interface ChildrenDecision {
  readonly children: readonly ChildRestore[];
  readonly listed: readonly ListedLoss[];
  /** Child chunks with manual edits that are not lost. */
  readonly present: number;
}

interface ChildrenOptions extends Pick<DocumentComparison, "reindexed" | "indexed"> {
  readonly history: DocumentHistory;
  readonly chosen: ReadonlySet<string>;
}

/**
 * Decides on the child chunks that somebody made or edited; the others are made by the service. A lost one replaces the automatic
 * child chunk that has the text before the edit, or that stands between the same neighbours; or it is added.
 */
function planChildren({ olds, home, targets }: Family, options: ChildrenOptions): ChildrenDecision {
  const [ordered, inTarget] = [inOrder(olds), inOrder(targets)];
  const pairs = pairRows(ordered, inTarget, ({ content }) => content);
  const twins = pairs.free.filter(({ type }) => type !== "customized");
  const pairOf = (child: ChildRow) => pairs.of.get(child)?.row;
  const places = options.indexed && placesByNeighbours(ordered, inTarget, pairOf, options.indexed);
  const children: ChildRestore[] = [];
  const listed: ListedLoss[] = [];
  let present = 0;
  for (const child of ordered) {
    const { evidence, before } = childEditsOf(child, options.history);
    if (evidence.length === 0) continue;
    const isThere = pairs.of.get(child)?.row.content === child.content;
    const why = isThere ? undefined : whyNot(child, home, options);
    if (isThere) present++;
    else if (why) listed.push(why);
    else {
      const isTwin = (each: ChildRow) => (before === null ? each === places?.get(child) : each.content === before);
      const at = twins.findIndex(isTwin);
      const [twin = null] = at < 0 ? [] : twins.splice(at, 1);
      const proof = before === null && twin ? ([...evidence, "neighbours"] as const) : evidence;
      children.push(childRestore(child, options.reindexed ? proof : ["chosen"], twin));
    }
  }
  return { children, listed, present };
}

/** The reason why a lost child chunk is left to the owner; undefined if it comes back. */
function whyNot(child: ChildRow, home: Family["home"], { reindexed, chosen }: ChildrenOptions): ListedLoss | undefined {
  if (home === null) return listedChild(child, "no place", "Its parent chunk does not stand in the target.");
  if (isBlank(child.content))
    return listedChild(child, "no evidence", "It has no text, and the service takes no such child chunk.");
  if (reindexed || chosen.has(child.id)) return undefined;
  return {
    ...listedChild(child, "no evidence", "The chunks kept their ids: a person changed it, not a re-index."),
    choice: "add",
  };
}

function listedChild(child: ChildRow, why: ListedLoss["why"], reason: string): ListedLoss {
  const { id, segment_id, position, content } = child;
  return { level: "child_chunk", id, segment_id, position, why, reason, content, now: null, choice: null };
}

function childRestore(
  { id, position, content }: ChildRow,
  evidence: ChildRestore["evidence"],
  twin: ChildRow | null,
): ChildRestore {
  return {
    child_id: id,
    position,
    evidence,
    content,
    twin: twin && { id: twin.id, content: twin.content },
  };
}

/** The parts of a chunk that do not come back with its text. `target` takes the text, or a new chunk does. */
function lossesOf(
  old: ChunkRow,
  target: ChunkRow | null,
  keywordsBefore: readonly string[] | undefined,
): readonly KnownLoss[] {
  const losses: KnownLoss[] = [];
  if (keywordsBefore && !old.keywords?.length && target?.keywords?.length) losses.push(emptiedKeywords(old));
  const unbound = old.attachment_ids.filter((id) => !target?.attachment_ids.includes(id)).length;
  if (unbound > 0)
    losses.push(lossOf(old, "attachments", `${countOf(unbound, "attachment")} cannot be bound to it again.`));
  if (old.summary !== null && old.summary !== target?.summary)
    losses.push(lossOf(old, "summary", "Its summary does not come back."));
  return losses;
}

/** The loss of keywords that somebody had removed, all of them. */
function emptiedKeywords(old: ChunkRow): KnownLoss {
  return lossOf(old, "keywords", "A person removed all of its keywords, and no request can do that again.");
}

function lossOf({ id, position }: ChunkRow, part: KnownLoss["part"], reason: string): KnownLoss {
  return { level: "chunk", id, position, part, reason };
}
