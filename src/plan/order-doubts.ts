import { pagesOf } from "./child-counts.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { Evidence } from "./evidence.js";

/** Why a document may have to be read more than once: the order of its rows does not hold, or its pages repeat. */
export function orderDoubts({ total, longest }: DocumentSurvey, evidence: Evidence): readonly string[] {
  const { probe, ties, chunkPages, childPages } = evidence;
  const pages = pagesOf(total ?? 0, chunkPages.rows);
  const longestPages = pagesOf(longest?.children ?? 0, childPages.rows);
  const moves = (ties.chunks.hold === false && pages > 1) || (ties.children.hold === false && longestPages > 1);
  return [
    ...(moves ? ["rows with one position come in changing order, so that it may be read up to three times"] : []),
    ...(probe.pagesRepeat && pages > 1 ? ["its pages repeat, so that it is read three times, and is unstable"] : []),
  ];
}
