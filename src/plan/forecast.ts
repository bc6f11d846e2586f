import type { Job } from "../job/job.js";
import type { Opening } from "./ask-opening.js";
import { countRequests } from "./count-requests.js";
import type { Evidence } from "./evidence.js";
import type { Certainty } from "./job-plan.js";
import type { ChildMode, DocumentRequests } from "./request-counts.js";

/** What a run sends in one mode of child_chunks. */
export interface Forecast {
  readonly requests: number;
  readonly pages: number;
  readonly lists: number;
  readonly certainty: Certainty;
  /** In the order of the job. */
  readonly documents: readonly DocumentRequests[];
}

/** Reasons that are named; a job of many documents has many. */
const named = 20;

/** Adds up the requests of all documents, and those around them. */
export function forecast(mode: ChildMode, job: Job, opening: Opening, evidence: Evidence): Forecast {
  const documents = evidence.surveys.map((survey) => countRequests(survey, evidence, mode, job.consistency));
  const sum = (of: (document: DocumentRequests) => number) => documents.reduce((total, each) => total + of(each), 0);
  const [pages, lists, unasked] = [sum((each) => each.pages), sum((each) => each.lists), sum((each) => each.unasked)];
  const why = [...opening.doubts, ...unaskedText(unasked), ...groupedDoubts(documents, evidence)];
  return {
    requests: opening.requests + pages + lists,
    pages,
    lists,
    documents,
    certainty: { exact: why.length === 0, at_least: opening.requests + sum((each) => each.atLeast), why },
  };
}

/** What there is to say of child lists that nobody asked. */
export function unaskedText(chunks: number): readonly string[] {
  if (chunks === 0) return [];
  const lists = chunks === 1 ? "the child list of 1 chunk was" : `the child lists of ${chunks} chunks were`;
  return [`${lists} not asked: each takes one request, and more only where it is longer than a page`];
}

/** A doubt of one document with its id, one of several with their number. */
function groupedDoubts(documents: readonly DocumentRequests[], { surveys }: Evidence): readonly string[] {
  const places = new Map<string, number[]>();
  for (const [at, { doubts }] of documents.entries()) {
    for (const doubt of doubts) places.set(doubt, [...(places.get(doubt) ?? []), at]);
  }
  const sentences = [...places].map(([doubt, at]) => {
    const who = at.length === 1 ? `document ${surveys[at[0] ?? 0]?.ref.documentId}` : `${at.length} documents`;
    return `${who}: ${doubt}`;
  });
  const more = sentences.length - named;
  return more > 0 ? [...sentences.slice(0, named), `and ${more} more reasons`] : sentences;
}
