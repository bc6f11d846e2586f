import { type ChildEvidence, type ChildPlan, listCounts, noEvidence, type SampledChunk } from "./auto-child-lists.js";
import type { ListRows } from "./child-lists.js";
import { answersOf, type ListSize, type PageRead, type ProblemsSoFar, rowsOn } from "./read-list.js";

/**
 * The progress of reading a document, as plain JSON, from which a later process continues. The proof of completeness uses it,
 * too.
 */
export interface HowFar {
  readonly chunks: ChunksSoFar;
  readonly children: ChildrenSoFar;
  readonly problems: ProblemsSoFar;
}

/** The chunks read so far, page by page in order. */
export interface ChunksSoFar extends ListSize {
  /** The `doc_form` of the last page that has one; null if none has. */
  readonly docForm: string | null;
  readonly pages: number;
  /** The number of answers that these pages took, at least: see `answersOf`. */
  readonly answers: number;
  readonly rows: number;
  /** Chunks that the service could not render. */
  readonly unreadable: number;
  /** Whether the chunks were read from the end and kept their ranks: see `readAnchored`. */
  readonly isAnchored: boolean;
  /** Whether no chunk was added recently: see `settledAge`. */
  readonly isSettled: boolean;
}

/** The children read so far, chunk by chunk in order. */
export interface ChildrenSoFar {
  /** The evidence in the pages of chunks about their children. */
  readonly evidence: ChildEvidence;
  /** The source of the children; null until decided, and if the job reads every list. */
  readonly plan: ChildPlan | null;
  /** Chunks whose children were read or are known not to exist. */
  readonly chunks: number;
  readonly rows: number;
  /** Child lists that were read and are empty. */
  readonly empty: number;
  /** Index, from 0, of the first sampled chunk whose child list does not match its page; null if none is known. */
  readonly differing: number | null;
  /** Whether any child list took more than one answer. */
  readonly isSplit: boolean;
  /**
   * Rows of the largest child list page that came in one answer. `smallestPiece`: rows of the smallest piece, if any page had
   * to be read in pieces.
   */
  readonly largestPage: number;
  readonly smallestPiece: number | null;
}

export const noChildrenYet: ChildrenSoFar = {
  evidence: noEvidence,
  plan: null,
  chunks: 0,
  rows: 0,
  empty: 0,
  differing: null,
  isSplit: false,
  largestPage: 0,
  smallestPiece: null,
};

/** The facts known after a page of chunks, besides its rows. */
type ChunkFacts = Pick<ChunksSoFar, "isAnchored" | "isSettled">;

/** Adds a page of chunks to the progress. `rows`: its new rows. `unreadable`: the number of unreadable rows on all pages so far. */
export function withChunkPage(
  before: ChunksSoFar | undefined,
  page: PageRead & ChunkFacts,
  { rows, unreadable }: Pick<ChunksSoFar, "rows" | "unreadable">,
): ChunksSoFar {
  const { isAnchored, isSettled } = page;
  return {
    total: before?.total ?? page.total,
    pageSize: before?.pageSize ?? rowsOn(page),
    docForm: page.docForm ?? before?.docForm ?? null,
    pages: (before?.pages ?? 0) + 1,
    answers: (before?.answers ?? 0) + answersOf(page),
    rows: (before?.rows ?? 0) + rows,
    unreadable,
    isAnchored,
    isSettled,
  };
}

/** Records the source of the children. If the document has none, nothing is left to read. */
export function withPlan(before: ChildrenSoFar, plan: ChildPlan, differing: number | undefined): ChildrenSoFar {
  const decided = { ...before, plan, differing: differing ?? null };
  if (plan.source !== "none") return decided;
  return { ...decided, empty: listCounts(before.evidence, plan).asked, chunks: before.evidence.chunks };
}

/** The place of rows in their child list. `isFirst`: at its start. */
interface PlaceInList {
  readonly isFirst: boolean;
  /** The sampled chunk, with the digest of the rows of its list so far; undefined if the chunk is not in the sample. */
  readonly sample?: { readonly chunk: SampledChunk; readonly digest: string } | undefined;
}

/** Adds rows of a child list to the progress. */
export function withListRows(
  before: ChildrenSoFar,
  { rows, piece, from, all }: ListRows,
  { isFirst, sample }: PlaceInList,
): ChildrenSoFar {
  const isPage = from === "page";
  const isOneAnswer = isPage && isFirst && all !== undefined && answersOf({ rows, piece }) === 1;
  const differs = all !== undefined && sample !== undefined && sample.chunk.digest !== sample.digest;
  const { largestPage, smallestPiece } = before;
  return {
    ...before,
    rows: before.rows + rows.length,
    empty: all === 0 ? before.empty + 1 : before.empty,
    differing: before.differing ?? (differs ? sample.chunk.index : null),
    isSplit: before.isSplit || !isOneAnswer,
    largestPage: isPage && piece === undefined ? Math.max(largestPage, rows.length) : largestPage,
    smallestPiece: piece === undefined ? smallestPiece : Math.min(smallestPiece ?? piece, piece),
  };
}

/** The longest child list that certainly fits in one answer. */
export function rowsOfOneAnswer({ largestPage, smallestPiece }: ChildrenSoFar): number {
  return Math.min(largestPage, smallestPiece ?? largestPage);
}
