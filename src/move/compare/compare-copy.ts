import type { ChildRow, ChunkRow, DocumentRows } from "../../restore/document-rows.js";
import { groupRows } from "../../restore/group-rows.js";
import { isSameSet } from "../../restore/same-set.js";
import { canCome, childCanCome } from "../can-come.js";
import { type AlignedPair, alignRows } from "./align-rows.js";
import { differenceOf, flawsOf, type RowDifference } from "./row-difference.js";

/** The rules for the rows of one document that was restored as a copy, with ids of its own. */
export interface CopyRules {
  /** The id at the service of an attachment of the run; undefined where it was announced not to come. */
  readonly attachmentOf: (id: string) => string | undefined;
  /** Rows of the run that are known not to be there as they should, and were reported. */
  readonly failed: ReadonlySet<string>;
  /** False where the run read no child chunks. */
  readonly hasChildren: boolean;
}

type Rows = Pick<DocumentRows, "doc_form" | "chunks" | "children">;

/** The rows of a document that can come; a child chunk comes with its chunk alone. */
export function comingOf<T extends Rows>(rows: T): T {
  const chunks = rows.chunks.filter((chunk) => canCome(chunk, rows.doc_form));
  const ids = new Set(chunks.map(({ id }) => id));
  return {
    ...rows,
    chunks,
    children: rows.children.filter((child) => childCanCome(child) && ids.has(child.segment_id)),
  };
}

/**
 * Compares the rows of a document of a run that can come with its copy: every chunk must be there once, in order, with its children in
 * order and with all that a request can bring, and nothing else may be there.
 */
export function compareCopy(old: Rows, live: Rows, rules: CopyRules): readonly RowDifference[] {
  const { pairs, missing, extra } = alignRows(old.chunks, live.chunks, textsOf);
  const isNews = ({ id }: { readonly id: string }) => !rules.failed.has(id);
  const oldChildren = groupRows(old.children, ({ segment_id }) => segment_id);
  const liveChildren = groupRows(live.children, ({ segment_id }) => segment_id);
  const childrenOf = (pair: AlignedPair<ChunkRow>) =>
    compareChildren(oldChildren.get(pair.old.id) ?? [], liveChildren.get(pair.live.id) ?? [], isNews);
  return [
    ...pairs
      .filter((pair) => isNews(pair.old))
      .flatMap((pair) => [...chunkFlaws(pair, rules), ...(rules.hasChildren ? childrenOf(pair) : [])]),
    ...missing.filter(isNews).map((chunk) => differenceOf("chunk", chunk, noCopy)),
    ...extra.map((chunk) => differenceOf("chunk", chunk, onlyThere)),
  ];
}

const noCopy = "it is not in the copy";
const onlyThere = "it is in the copy, and not in the run";

function textsOf({ content, answer }: ChunkRow): string {
  return JSON.stringify([content, answer ?? ""]);
}

/** The service may choose keywords where the run has none. */
function chunkFlaws({ old, live, kind }: AlignedPair<ChunkRow>, rules: CopyRules): readonly RowDifference[] {
  const { attachmentOf } = rules;
  const attachments = old.attachment_ids.map(attachmentOf).filter((id) => id !== undefined);
  const hasKeywords = old.keywords !== null && old.keywords.length > 0;
  return flawsOf("chunk", old, [
    kind === "changed" && "text",
    kind === "moved" && "place",
    hasKeywords && !isSameSet(old.keywords, live.keywords) && "keywords",
    old.enabled !== live.enabled && "state",
    live.status !== "completed" && "status",
    !isSameSet(attachments, live.attachment_ids) && "attachments",
  ]);
}

function compareChildren(
  old: readonly ChildRow[],
  live: readonly ChildRow[],
  isNews: (row: ChildRow) => boolean,
): readonly RowDifference[] {
  const { pairs, missing, extra } = alignRows(old, live, ({ content }) => content);
  return [
    ...pairs.filter((pair) => isNews(pair.old)).flatMap(childFlaws),
    ...missing.filter(isNews).map((child) => differenceOf("child_chunk", child, noCopy)),
    ...extra.map((child) => differenceOf("child_chunk", child, onlyThere)),
  ];
}

/** A request makes customized child chunks only: an automatic one may be either in the copy. */
function childFlaws({ old, live, kind }: AlignedPair<ChildRow>): readonly RowDifference[] {
  return flawsOf("child_chunk", old, [
    kind === "changed" && "text",
    kind === "moved" && "place",
    old.type === "customized" && live.type !== "customized" && "type",
  ]);
}
