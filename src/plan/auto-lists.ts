import {
  type ChildEvidence,
  forecastLists,
  listCounts,
  noEvidence,
  sampleOf,
  sampleSize,
  supposedChildren,
} from "../crawl/child-evidence.js";
import { keptPages } from "../crawl/child-lists.js";
import { pagesOf } from "./child-counts.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { ListRequests } from "./request-counts.js";

/** The requests for the child lists that `child_chunks: auto` asks, by its own rules and what is known of the document. */
export function autoLists(survey: DocumentSurvey, all: ListRequests, pageSize: number): ListRequests {
  const evidence = evidenceOf(survey);
  const chunks = isBelied(survey) ? all.chunks : forecastLists(evidence, all.chunks).asked;
  const least = leastLists(evidence, all.chunks);
  const doubts = ["child_chunks: auto goes by a sample of its own, and asks every list where that disagrees"];
  if (chunks === all.chunks) {
    if (least === all.chunks) return all;
    return { ...all, atLeast: least, againAtLeast: 0, doubts: [...all.doubts, ...doubts] };
  }
  const sample = evidence.chunks < all.chunks ? [] : sampleOf(evidence);
  const further = sample.reduce((sum, { rows }) => sum + Math.min(pagesOf(rows, pageSize), keptPages) - 1, 0);
  const requests = chunks + further;
  return { chunks, requests, atLeast: least, again: 0, againAtLeast: 0, unasked: 0, doubts };
}

/** Fewer lists than these are not asked, whatever the chunks embed that were not looked at, and whatever a sample shows. */
function leastLists(evidence: ChildEvidence, total: number): number {
  const { docForm, chunks, embedding } = evidence;
  const supposed = supposedChildren(evidence);
  if (chunks >= total) return listCounts(evidence, supposed).asked;
  if (supposed.source === "none") return Math.min(total, sampleSize);
  const isOpen =
    chunks === 0 || supposed.source === "embedded" || (docForm === "hierarchical_model" && embedding === 0);
  return isOpen ? Math.min(total, chunks - embedding + 1) : total;
}

/** Of every page where they were read; else of the chunks that were looked at, as if all others were like them. */
function evidenceOf({ evidence, docForm, embedded }: DocumentSurvey): ChildEvidence {
  const { some, none } = embedded;
  return evidence ?? { ...noEvidence, docForm, chunks: some + none, embedding: some };
}

/** Whether child lists were seen that the chunks do not show: then the sample of a run will hardly agree with these either. */
function isBelied({ embedding }: DocumentSurvey): boolean {
  return embedding === "differs" || embedding === "none";
}
