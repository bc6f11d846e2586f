import { pageSize as fullPage } from "../client/knowledge-api.js";
import type { Job } from "../job/job.js";
import { autoLists } from "./auto-lists.js";
import { pagesOf } from "./child-counts.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Evidence } from "./evidence.js";
import { orderDoubts } from "./order-doubts.js";
import type { ChildMode, DocumentRequests, ListRequests } from "./request-counts.js";

/** Requests that `kbdump run` sends for a document, when nothing fails, moves or is continued. */
export function countRequests(
  survey: DocumentSurvey,
  evidence: Evidence,
  mode: ChildMode,
  consistency: Job["consistency"],
): DocumentRequests {
  const { error, total, doubts } = survey;
  if (total === null) return { pages: 1, sweeps: 1, lists: 0, atLeast: 1, unasked: 0, doubts: [...doubts] };
  const { chunkPages } = evidence;
  const once = pagesOf(total, chunkPages.rows);
  const { sweeps, anchors } = proofOf(survey, total, chunkPages.rows, consistency);
  const pages = sweeps * once + anchors;
  const repeats = evidence.probe.pagesRepeat && pages > 1; // then it is given up, and some of its chunks never come
  const sure = {
    pages,
    sweeps,
    lists: 0,
    atLeast: repeats ? 1 : pages,
    unasked: 0,
    doubts: [
      ...doubts,
      ...(chunkPages.isCertainFor(total) ? [] : ["it is not known how many chunks stand on a page"]),
      ...orderDoubts(survey, evidence),
      ...(anchors > 0 ? ["it takes twice as many pages where positions do not rise or chunks are being indexed"] : []),
    ],
  };
  if (mode === "none" || total === 0) return sure;
  if (error !== null) return { ...sure, lists: 1, atLeast: 2, doubts: [...sure.doubts, error] };
  const all = allLists(survey, evidence);
  const twice = isReadTwice(survey, consistency);
  const lists = mode === "auto" ? autoLists(survey, all, evidence.childPages.rows) : all;
  return {
    ...sure,
    lists: lists.requests + (twice ? lists.again : 0),
    atLeast: repeats ? 1 : pages + lists.atLeast + (twice ? lists.againAtLeast : 0),
    unasked: lists.unasked,
    doubts: [...sure.doubts, ...lists.doubts],
  };
}

interface ProofRequests {
  readonly sweeps: 1 | 2;
  /** Requests for one row each. */
  readonly anchors: number;
}

const readOnce: ProofRequests = { sweeps: 1, anchors: 0 };

/** Gives the requests that prove that so many chunks, in pages of that size, are all there. */
function proofOf({ ref }: DocumentSurvey, total: number, size: number, consistency: Job["consistency"]): ProofRequests {
  const isOnePage = pagesOf(total, size) === 1;
  if (consistency === "counts" || (isOnePage && total !== fullPage)) return readOnce;
  const isFiltered = ref.status.length > 0 || ref.keyword !== undefined;
  if (consistency === "sweeps" || isFiltered || isOnePage) return { sweeps: 2, anchors: 0 };
  return { sweeps: 1, anchors: total % size === 0 ? 3 : 2 };
}

/** Whether a second sweep reads child lists of several pages: it does not where the chunks show the same children. */
export function isReadTwice({ embedding }: DocumentSurvey, consistency: Job["consistency"]): boolean {
  return consistency !== "counts" && embedding !== "agrees";
}

/** Every chunk's list: those that are known as they are, the others as these are in the mean. */
function allLists(survey: DocumentSurvey, { childPages }: Evidence): ListRequests {
  const { total, children, unasked, unknown, longest } = survey;
  const size = childPages.rows;
  const known = children.requests(size);
  const again = children.requestsOfLong(size);
  const share = children.known === 0 ? 0 : unknown / children.known;
  const isCertain = childPages.isCertainFor(longest?.children ?? 0);
  return {
    chunks: total ?? 0,
    requests: known + unasked + Math.round((known - children.known) * share),
    atLeast: known + unasked,
    again: Math.round(again * (1 + share)),
    againAtLeast: again,
    unasked: unknown,
    doubts: isCertain ? [] : ["it is not known how many child chunks stand on a page"],
  };
}

/** Children of a document: counted where every list is known, otherwise an estimate from those that are. */
export function childrenOf({ children, unknown, meanChildren }: DocumentSurvey): { count: number; exact: boolean } {
  return { count: children.sum + Math.round(meanChildren * unknown), exact: unknown === 0 };
}
