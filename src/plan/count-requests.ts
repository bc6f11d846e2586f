import { pageSize as fullPage } from "../client/knowledge-api.js";
import { forecastLists, keptPages, sampleOf, sampleSize } from "../crawl/child-evidence.js";
import type { Job } from "../job/job.js";
import { type DocumentSurvey, pagesOf } from "./document-survey.js";
import type { Evidence } from "./inquiry.js";
import type { ChildMode } from "./job-plan.js";

/** The requests for one document in one mode of child_chunks. */
export interface DocumentRequests {
  /** For pages of chunks, those of a second sweep included. */
  readonly pages: number;
  /** Times that each page of chunks is read. */
  readonly sweeps: 1 | 2;
  /** For child lists, those of a second sweep included: exact, or an estimate from the sample. */
  readonly lists: number;
  /** A lower bound of all of them. */
  readonly atLeast: number;
  /** Chunks whose child list would have to be asked to know more. */
  readonly unasked: number;
  /** The reasons why the count is uncertain, a sentence each. */
  readonly doubts: readonly string[];
}

/** Requests that `kbdump run` sends for a document, when nothing fails, moves or is continued. */
export function countRequests(
  survey: DocumentSurvey,
  evidence: Evidence,
  mode: ChildMode,
  consistency: Job["consistency"],
): DocumentRequests {
  const { error, total } = survey;
  if (total === null) return { pages: 1, sweeps: 1, lists: 0, atLeast: 1, unasked: 0, doubts: [...survey.doubts] };
  const { sweeps, pages } = chunkPages(survey, total, evidence.chunkPages.rows, consistency);
  const repeats = evidence.pagesRepeat && pages > 1; // then it is given up, and some of its chunks never come
  const doubts = [...survey.doubts, ...pageDoubts(survey, total, evidence, consistency)];
  const sure = { pages, sweeps, lists: 0, atLeast: repeats ? 1 : pages, unasked: 0, doubts };
  if (mode === "none" || total === 0) return sure;
  if (error !== null) return { ...sure, lists: 1, atLeast: 2, doubts: [...doubts, error] };
  const all = allLists(survey, evidence, consistency);
  const lists = mode === "auto" ? autoLists(survey, all, evidence.childPages.rows) : all;
  return {
    ...sure,
    lists: lists.requests,
    atLeast: repeats ? 1 : pages + lists.atLeast,
    unasked: lists.unasked,
    doubts: [...doubts, ...lists.doubts],
  };
}

/** The requests that prove that so many chunks, in pages of that size, are all there. */
function chunkPages(
  { ref }: DocumentSurvey,
  total: number,
  size: number,
  consistency: Job["consistency"],
): Pick<DocumentRequests, "sweeps" | "pages"> {
  const once = pagesOf(total, size);
  const isFiltered = ref.status.length > 0 || ref.keyword !== undefined;
  if (consistency === "counts" || (once === 1 && total !== fullPage)) return { sweeps: 1, pages: once };
  if (consistency === "sweeps" || isFiltered || once === 1) return { sweeps: 2, pages: 2 * once };
  return { sweeps: 1, pages: once + (total % size === 0 ? 3 : 2) };
}

/** The reasons why a document may take more requests for pages. */
function pageDoubts(
  { longest, ref }: DocumentSurvey,
  total: number,
  { pagesRepeat, chunkTies, childTies, chunkPages, childPages }: Evidence,
  consistency: Job["consistency"],
): readonly string[] {
  const isLong = pagesOf(total, chunkPages.rows) > 1;
  const isLongest = pagesOf(longest?.children ?? 0, childPages.rows) > 1;
  const moves = (chunkTies.holds === false && isLong) || (childTies.holds === false && isLongest);
  const isAnchored = consistency === "anchored" && isLong && ref.status.length === 0 && ref.keyword === undefined;
  return [
    ...(chunkPages.isCertainFor(total) ? [] : ["the page size for chunks is unknown"]),
    ...(moves ? ["chunks with equal positions change their order, so it may be read up to three times"] : []),
    ...(pagesRepeat && isLong ? ["its pages repeat, so it is read three times and stays unstable"] : []),
    ...(isAnchored ? ["it takes twice as many pages if positions do not increase or chunks are being indexed"] : []),
  ];
}

type ListRequests = Pick<DocumentRequests, "atLeast" | "unasked" | "doubts"> & { readonly requests: number };

/** The list of every chunk: known lists as they are, the others by the mean of these. */
function allLists(survey: DocumentSurvey, { childPages }: Evidence, consistency: Job["consistency"]): ListRequests {
  const { children, unasked, unknown, longest } = survey;
  const known = children.requests(childPages.rows);
  const again = isReadTwice(survey, consistency) ? children.requestsOfLong(childPages.rows) : 0;
  const share = children.known === 0 ? 0 : unknown / children.known;
  const further = known - children.known + again; // beyond one request to each list
  const isCertain = childPages.isCertainFor(longest?.children ?? 0);
  return {
    requests: known + again + unasked + Math.round(further * share),
    atLeast: known + again + unasked,
    unasked: unknown,
    doubts: isCertain ? [] : ["the page size for child chunks is unknown"],
  };
}

/** Whether a second sweep reads child lists of several pages: it does not where the chunks show the same children. */
export function isReadTwice({ embedding }: DocumentSurvey, consistency: Job["consistency"]): boolean {
  return consistency !== "counts" && embedding !== "agrees";
}

/** The lists that `child_chunks: auto` asks, by its own rules. A run decides by a sample of its own, so this is never certain. */
function autoLists(survey: DocumentSurvey, all: ListRequests, size: number): ListRequests {
  const { evidence, embedding, total } = survey;
  const chunks = total ?? 0;
  const isBelied = embedding === "differs" || embedding === "none"; // then a run's sample will hardly agree either
  const asked = isBelied ? chunks : forecastLists(evidence, chunks).asked;
  const sample = evidence.chunks < chunks ? [] : sampleOf(evidence);
  const further = sample.reduce((sum, { rows }) => sum + Math.min(pagesOf(rows, size), keptPages) - 1, 0);
  const atLeast = Math.min(chunks, sampleSize - 1); // the sample, in which the longest list may stand for two
  const doubts = ["child_chunks: auto takes its own sample, and reads every list if that disagrees"];
  if (asked === chunks) return { ...all, atLeast, doubts: [...all.doubts, ...doubts] };
  return { requests: asked + further, atLeast, unasked: 0, doubts };
}
