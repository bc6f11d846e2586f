import type { ChildRow, ChunkRow } from "../document-rows.js";
import type { ChildRestore, ListedLoss } from "../restore-plan.js";
import type { DocumentHistory } from "./document-history.js";
import { handOfChild, isBlank } from "./hand.js";
import { inOrder, pairRows } from "./pair-rows.js";

/** The child chunks of one chunk, and those of the chunk of the target that has its text or takes it. */
export interface Family {
  readonly olds: readonly ChildRow[];
  readonly home: ChunkRow | "added" | null;
  readonly targets: readonly ChildRow[];
}

export interface ChildrenDecision {
  readonly children: readonly ChildRestore[];
  readonly listed: readonly ListedLoss[];
  /** Child chunks with a sign of a hand that are not lost. */
  readonly present: number;
}

export interface ChildrenOptions {
  readonly history: DocumentHistory;
  /** The document was indexed anew. */
  readonly reindexed: boolean;
  readonly chosen: ReadonlySet<string>;
}

/**
 * Decides on the child chunks that somebody made or edited; the others are made by the service. A lost one replaces the automatic
 * child chunk that has the text before the edit, or is added.
 */
export function planChildren({ olds, home, targets }: Family, options: ChildrenOptions): ChildrenDecision {
  const ordered = inOrder(olds);
  const pairs = pairRows(ordered, inOrder(targets), ({ content }) => content);
  const twins = pairs.free.filter(({ type }) => type !== "customized");
  const children: ChildRestore[] = [];
  const listed: ListedLoss[] = [];
  let present = 0;
  for (const child of ordered) {
    const { evidence, before } = handOfChild(child, options.history);
    if (evidence.length === 0) continue;
    const isThere = pairs.of.get(child)?.row.content === child.content;
    const why = isThere ? undefined : whyNot(child, home, options);
    if (isThere) present++;
    else if (why) listed.push(why);
    else {
      const at = twins.findIndex(({ content }) => content === before);
      const [twin = null] = at < 0 ? [] : twins.splice(at, 1);
      children.push(childRestore(child, options.reindexed ? evidence : ["chosen"], twin));
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
