import type { ChildRow, ChunkRow } from "../document-rows.js";
import { type Context, needsDecision, refusedBy, timeText, writtenBefore } from "./decisions.js";
import type { LostFamily } from "./read-lost.js";
import type { ChildRestore, Evidence, ListedLoss, ManualEdit, WhyListed } from "./restore-plan.js";

export interface ChildrenDecision {
  readonly children: readonly ChildRestore[];
  readonly listed: readonly ListedLoss[];
}

/**
 * Decides on the lost child chunks of one chunk. Each replaces the automatic child chunk that has the text before the edit, or is
 * between the same neighbours; without such a chunk, it is added. `home`: the chunk of the target that has or will get the parent's
 * text; null if there is none. `isParentOpen`: without a `home`, the owner may still decide to restore the parent.
 */
export function planFamily(
  family: LostFamily | undefined,
  home: ChunkRow | "added" | null,
  targets: readonly ChildRow[],
  context: Context,
  isParentOpen = false,
): ChildrenDecision {
  if (!family) return { children: [], listed: [] };
  const children: ChildRestore[] = [];
  const listed: ListedLoss[] = [];
  const used = new Set<string>();
  const standing = targets.flatMap(({ type, content }) => (type === "customized" ? [content] : []));
  for (const { id, content } of family.olds) if (!family.lost.has(id)) takeFrom(standing, content);
  for (const child of family.olds.filter(({ id }) => family.lost.has(id))) {
    const before = family.before.get(child.id);
    const doubt = childDoubt(child, home, isParentOpen, context) ?? doubtOfWritten(child, family, context);
    if (doubt) {
      listed.push(doubt);
      continue;
    }
    if (takeFrom(standing, child.content)) continue;
    const known = before === undefined ? family.twins.get(child.id) : undefined;
    const twin = targets.find(({ id }) => !used.has(id) && id === (known ?? twinByText(family, targets, used, before)));
    const refused = refusedBy(context, child.id, twin ?? null);
    if (refused) {
      listed.push(listedChild(child, refused.why, refused.reason, twin ? "replace" : "add", twin));
      continue;
    }
    if (twin) used.add(twin.id);
    children.push(
      childRestore(child, {
        evidence: childEvidence(child, { before, isPlaced: known === twin?.id && twin !== undefined }, context),
        twin,
      }),
    );
  }
  return { children, listed };
}

/** Removes a text from a list; false if the list does not have it. */
function takeFrom(texts: string[], text: string): boolean {
  const at = texts.indexOf(text);
  return at >= 0 && texts.splice(at, 1).length > 0;
}

/** The automatic child chunk that has the text before the edit. Other child chunks of the older run may have that text too. */
function twinByText(
  { olds, lost }: LostFamily,
  targets: readonly ChildRow[],
  used: ReadonlySet<string>,
  before: string | undefined,
): string | undefined {
  if (before === undefined) return undefined;
  const others = olds.filter(({ id, content }) => !lost.has(id) && content === before).length;
  const free = targets.filter(({ content, type }) => content === before && type !== "customized").slice(others);
  return free.find(({ id }) => !used.has(id))?.id;
}

function childDoubt(
  child: ChildRow,
  home: ChunkRow | "added" | null,
  isParentOpen: boolean,
  context: Context,
): ListedLoss | undefined {
  const { decisions, addManualEdits, reindexed } = context;
  if (child.content.trim() === "")
    return listedChild(
      child,
      "cannot be restored",
      "It has no text, and the service accepts no such child chunk.",
      null,
    );
  if (home === null) {
    const refused = decisions?.has(child.id) ? refusedBy(context, child.id, null) : undefined;
    const { why, reason } = refused ?? { why: needsDecision, reason: isParentOpen ? withParent : parentless };
    return listedChild(child, why, reason, isParentOpen ? "add" : null);
  }
  if (reindexed || addManualEdits || decisions?.has(child.id)) return undefined;
  return listedChild(child, needsDecision, "The chunks kept their ids: a person changed it, not a re-index.", "add");
}

/** Why a child chunk that a restore wrote before is left to the owner; undefined if it is not. */
function doubtOfWritten(
  child: ChildRow,
  { writtenAs }: LostFamily,
  { decisions, addManualEdits }: Context,
): ListedLoss | undefined {
  const id = writtenAs.get(child.id);
  if (id === undefined || addManualEdits || decisions?.has(child.id)) return undefined;
  return listedChild(child, needsDecision, writtenBefore("child chunk", id), "add");
}

const parentless = "Its parent chunk is not in the target.";
const withParent = "Its parent chunk is not in the target: it can come back only together with it.";

function listedChild(
  child: ChildRow,
  why: WhyListed,
  reason: string,
  choice: ListedLoss["choice"],
  twin?: ChildRow,
): ListedLoss {
  const { id, segment_id, position, content } = child;
  const texts = { content, answer: null, now: twin?.content ?? null, now_answer: null };
  return { level: "child_chunk", id, segment_id, position, edit: childEdit(child), why, reason, ...texts, choice };
}

function childEdit({ updated_at, created_at }: ChildRow): ManualEdit {
  return { kind: "customized", by: null, at: timeText(updated_at ?? created_at) };
}

function childEvidence(
  { type }: ChildRow,
  { before, isPlaced }: { readonly before: string | undefined; readonly isPlaced: boolean },
  { reindexed }: Context,
): readonly Evidence[] {
  if (!reindexed) return ["chosen"];
  const evidence: Evidence[] = [];
  if (type === "customized") evidence.push("customized");
  if (before !== undefined) evidence.push("history");
  if (isPlaced) evidence.push("neighbours");
  return evidence.length > 0 ? evidence : ["chosen"];
}

function childRestore(
  child: ChildRow,
  { evidence, twin }: { readonly evidence: readonly Evidence[]; readonly twin: ChildRow | undefined },
): ChildRestore {
  const { id, position, content } = child;
  const replaced = twin ? { id: twin.id, content: twin.content } : null;
  return { child_id: id, position, edit: childEdit(child), evidence, content, twin: replaced };
}
