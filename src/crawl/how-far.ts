import { type ChildEvidence, type ChildPlan, listCounts, noEvidence, type SampledChunk } from "./auto.js";
import type { ListRows } from "./child-lists.js";
import { answersOf, type ListSize, type PageRead, type ProblemsSoFar, rowsOn } from "./read-list.js";

/** How far a document is read, as plain JSON: a later process goes on from here, and the proof of the document rests on it. */
export interface HowFar {
  readonly chunks: ChunksSoFar;
  readonly children: ChildrenSoFar;
  readonly problems: ProblemsSoFar;
}

/** The chunks that are read, page by page in their order. */
export interface ChunksSoFar extends ListSize {
  /** As the last page that named one said it; null where none did. */
  readonly docForm: string | null;
  readonly pages: number;
  /** Answers with which the pages came, at the least. */
  readonly answers: number;
  readonly rows: number;
  /** Chunks that the service could not render. */
  readonly unreadable: number;
  /** Whether they were read from their end, and kept their ranks. */
  readonly isAnchored: boolean;
  /** Whether nothing was added lately. */
  readonly isSettled: boolean;
}

/** The children that are read, chunk by chunk in the order of the chunks. */
export interface ChildrenSoFar {
  /** Evidence from the pages of chunks that were read. */
  readonly evidence: ChildEvidence;
  /** The source of the children; null until it is decided, and where the job asks for every list. */
  readonly plan: ChildPlan | null;
  /** Chunks whose children are read, or are known to be none. */
  readonly chunks: number;
  readonly rows: number;
  /** Child lists that were asked for and are empty. */
  readonly empty: number;
  /** The first sampled chunk, from 0, whose child list is not what its page showed; null as long as none is known. */
  readonly differing: number | null;
  /** Whether a child list took more than one answer. */
  readonly isSplit: boolean;
  /** Rows of the largest page of a list that came with one answer, and of the smallest piece of one that did not. */
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

/** The facts of a page of chunks beyond its rows. */
type ChunkFacts = Pick<ChunksSoFar, "isAnchored" | "isSettled">;

/** The chunks with one more page, of which so many rows are new; `unreadable` counts those of all pages. */
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

/** The children after the source of them is decided: where there are none, nothing is left to be read. */
export function withPlan(before: ChildrenSoFar, plan: ChildPlan, differing: number | undefined): ChildrenSoFar {
  const decided = { ...before, plan, differing: differing ?? null };
  if (plan.source !== "none") return decided;
  return { ...decided, empty: listCounts(before.evidence, plan).asked, chunks: before.evidence.chunks };
}

/** Where rows stand in their child list: `isFirst` where none of it came before, `sample` where its chunk is one. */
interface PlaceInList {
  readonly isFirst: boolean;
  /** With the digest of all rows of the list so far. */
  readonly sample?: { readonly chunk: SampledChunk; readonly digest: string } | undefined;
}

/** The children with more rows of a child list. */
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

/** Rows that a child list can have at the most to have come with one answer for certain. */
export function rowsOfOneAnswer({ largestPage, smallestPiece }: ChildrenSoFar): number {
  return Math.min(largestPage, smallestPiece ?? largestPage);
}
