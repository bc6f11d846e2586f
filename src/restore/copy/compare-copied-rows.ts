import { type ChildRow, type ChunkRow, isSameSet } from "../../compare/document-rows.js";
import type { DocumentPairs } from "../proof-pairs.js";
import { differsIn, findDifferences, type ProvedRow, type RowRules } from "../prove.js";
import type { RowDifference } from "../result.js";

/** The rules for the rows of a document's copy, which has its own ids. */
interface CopyRules {
  /** The id at the service of an attachment of the run; undefined if the plan announced its loss. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Ids of rows that failed to copy; already reported. */
  readonly failed: ReadonlySet<string>;
  /** Whether the service may have disabled chunks together with their document. */
  readonly mayBeDisabled: boolean;
}

/**
 * Compares the copyable rows of a run's document with its copy: every chunk must be there once, in order, with its children in
 * order and all parts that a request can write, and nothing else may be there. `pairs`: by text.
 */
export async function* compareCopy(pairs: DocumentPairs, rules: CopyRules): AsyncGenerator<RowDifference> {
  const { failed, attachmentOf, mayBeDisabled } = rules;
  const chunkFlaws = (old: ChunkRow, live: ChunkRow, isMoved: boolean) => {
    const attachments = old.attachment_ids.map(attachmentOf).filter((id) => id !== undefined);
    const hasKeywords = old.keywords !== null && old.keywords.length > 0; // the service may choose some itself
    return differsIn({
      text: isOtherText(old, live),
      place: isMoved,
      keywords: hasKeywords && !isSameSet(old.keywords, live.keywords),
      state: old.enabled !== live.enabled && !(mayBeDisabled && old.enabled),
      status: live.status !== "completed",
      attachments: !isSameSet(attachments, live.attachment_ids),
    });
  };
  yield* findDifferences("chunk", pairs.chunks, copyRules(failed, chunkFlaws));
  yield* findDifferences("child_chunk", pairs.children, copyRules(failed, childFlaws));
}

function copyRules<Row extends ProvedRow>(failed: ReadonlySet<string>, flawsOf: RowRules<Row>["pair"]): RowRules<Row> {
  return {
    pair: (old, live, isMoved) => (failed.has(old.id) ? null : flawsOf(old, live, isMoved)),
    gone: ({ id }) => (failed.has(id) ? null : "it is not in the copy"),
    fresh: () => "it is in the copy, and not in the run",
  };
}

/** A request can make only customized child chunks, so an automatic one may be of either type in the copy. */
function childFlaws(old: ChildRow, live: ChildRow, isMoved: boolean): string | null {
  return differsIn({
    text: old.content !== live.content,
    place: isMoved,
    type: old.type === "customized" && live.type !== "customized",
  });
}

/** Compares a document of a run with its current state. `pairs`: by id. */
export async function* compareSame(pairs: DocumentPairs): AsyncGenerator<RowDifference> {
  const said = { gone: () => "it is gone", fresh: () => "it is new: the run does not have it" };
  yield* findDifferences("chunk", pairs.chunks, {
    ...said,
    pair: (old, live) =>
      differsIn({
        text: isOtherText(old, live),
        keywords: !isSameSet(old.keywords, live.keywords),
        state: old.enabled !== live.enabled,
        position: old.position !== live.position,
        status: old.status !== live.status,
      }),
  });
  yield* findDifferences("child_chunk", pairs.children, {
    ...said,
    pair: (old, live) =>
      differsIn({
        text: old.content !== live.content,
        position: old.position !== live.position,
        type: old.type !== live.type,
        chunk: old.segment_id !== live.segment_id,
      }),
  });
}

type Said = Pick<ChunkRow, "content" | "answer">;

function isOtherText(old: Said, live: Said): boolean {
  return old.content !== live.content || (old.answer ?? "") !== (live.answer ?? "");
}
