import { diffArrays } from "diff";
import { type ChildRow, type ChunkRow, type DocumentRows, groupRows, isSameSet } from "../../compare/document-rows.js";
import { compareRows, differsIn, type ProvedRow, type RowRules } from "../prove.js";
import type { RowDifference } from "../result.js";

type Rows = Pick<DocumentRows, "chunks" | "children">;

/** The rules for the rows of one document that is a copy, with ids of its own. */
interface CopyRules {
  /** The id at the service of an attachment of the run; undefined where it was announced not to come. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Rows of the run that are known not to be there as they should, and were reported. */
  readonly failed: ReadonlySet<string>;
  /** False where the run read no child chunks. */
  readonly hasChildren: boolean;
  /** Whether the service may have disabled chunks together with their document. */
  readonly mayBeDisabled: boolean;
}

/**
 * Compares the rows of a document of a run that can come with its copy: every chunk must be there once, in order, with its children in
 * order and with all that a request can bring, and nothing else may be there.
 */
export function compareCopy(old: Rows, live: Rows, rules: CopyRules): readonly RowDifference[] {
  const { failed, attachmentOf } = rules;
  const chunks = pairCopies(old.chunks, live.chunks, ({ content, answer }) => JSON.stringify([content, answer ?? ""]));
  const children = groupRows(live.children, ({ segment_id }) => segment_id);
  const oldChildren = groupRows(old.children, ({ segment_id }) => segment_id);
  const pairs = chunks.now.filter(({ id }) => rules.hasChildren && chunks.ids.has(id) && !failed.has(id));
  return [
    ...compareRows(
      "chunk",
      { old: old.chunks, now: chunks.now },
      copyRules(failed, (before: ChunkRow, now: ChunkRow) => {
        const attachments = before.attachment_ids.map(attachmentOf).filter((id) => id !== undefined);
        const hasKeywords = before.keywords !== null && before.keywords.length > 0; // the service may choose some itself
        return differsIn({
          text: isOtherText(before, now),
          place: chunks.moved.has(before.id),
          keywords: hasKeywords && !isSameSet(before.keywords, now.keywords),
          state: before.enabled !== now.enabled && !(rules.mayBeDisabled && before.enabled),
          status: now.status !== "completed",
          attachments: !isSameSet(attachments, now.attachment_ids),
        });
      }),
    ),
    ...pairs.flatMap(({ id }) => {
      const own = oldChildren.get(id) ?? [];
      const { now, moved } = pairCopies(own, children.get(chunks.ids.get(id) ?? "") ?? [], ({ content }) => content);
      return compareRows("child_chunk", { old: own, now }, copyRules(failed, childFlaws(moved)));
    }),
  ];
}

function copyRules<T extends ProvedRow>(
  failed: ReadonlySet<string>,
  flawsOf: (old: T, now: T) => string | null,
): RowRules<T, T> {
  return {
    pair: (old, now) => (failed.has(old.id) ? null : flawsOf(old, now)),
    gone: ({ id }) => (failed.has(id) ? null : "it is not in the copy"),
    fresh: () => "it is in the copy, and not in the run",
  };
}

/** A request makes customized child chunks only: an automatic one may be either in the copy. */
function childFlaws(moved: ReadonlySet<string>) {
  return (old: ChildRow, now: ChildRow) =>
    differsIn({
      text: old.content !== now.content,
      place: moved.has(old.id),
      type: old.type === "customized" && now.type !== "customized",
    });
}

/** Rows that may stand elsewhere, which bounds the time; where more do, all count as moved. */
const mostMoves = 2_000;

interface Copies<T> {
  /** The rows of the copy; those that are copies of a row have the id of that. */
  readonly now: readonly T[];
  /** The own ids of these rows, by the ids of the rows that they are copies of. */
  readonly ids: ReadonlyMap<string, string>;
  /** Rows whose copies stand in another order. */
  readonly moved: ReadonlySet<string>;
}

/**
 * Finds the copy of each row: the k-th of those that say the same is the copy of the k-th; one of another text is the copy of the row at
 * its place, where neither has another partner.
 */
export function pairCopies<T extends ProvedRow>(
  old: readonly T[],
  live: readonly T[],
  textOf: (row: T) => string,
): Copies<T> {
  const byText = groupRows(old.toReversed(), textOf);
  const partners = live.map((row) => byText.get(textOf(row))?.pop());
  const taken = new Set(partners);
  const pairOf = (at: number) => partners[at] ?? (taken.has(old[at]) ? undefined : old[at]);
  const ids = new Map<string, string>();
  const now = live.map((row, at) => {
    const { id } = pairOf(at) ?? row;
    if (pairOf(at)) ids.set(id, row.id);
    return { ...row, id };
  });
  const [inRun, inCopy] = [old, now].map((rows) => rows.map(({ id }) => id).filter((id) => ids.has(id)));
  const parts = diffArrays(inRun ?? [], inCopy ?? [], { maxEditLength: mostMoves });
  const moved = parts ? parts.filter(({ removed }) => removed).flatMap(({ value }) => value) : inRun;
  return { now, ids, moved: new Set(moved) };
}

/** Compares a document of a run with the same document as it is now, row by row, by ids. `hasChildren`: the run read child chunks. */
export function compareSame(old: Rows, live: Rows, hasChildren: boolean): readonly RowDifference[] {
  const said = { gone: () => "it is gone", fresh: () => "it is new: the run does not have it" };
  const chunks = compareRows(
    "chunk",
    { old: old.chunks, now: live.chunks },
    {
      ...said,
      pair: (before, now) =>
        differsIn({
          text: isOtherText(before, now),
          keywords: !isSameSet(before.keywords, now.keywords),
          state: before.enabled !== now.enabled,
          position: before.position !== now.position,
          status: before.status !== now.status,
        }),
    },
  );
  if (!hasChildren) return chunks;
  const children = compareRows(
    "child_chunk",
    { old: old.children, now: live.children },
    {
      ...said,
      pair: (before, now) =>
        differsIn({
          text: before.content !== now.content,
          position: before.position !== now.position,
          type: before.type !== now.type,
          chunk: before.segment_id !== now.segment_id,
        }),
    },
  );
  return [...chunks, ...children];
}

type Said = Pick<ChunkRow, "content" | "answer">;

function isOtherText(old: Said, now: Said): boolean {
  return old.content !== now.content || (old.answer ?? "") !== (now.answer ?? "");
}
