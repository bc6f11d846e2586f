import type { Job } from "../job/job.js";
import { type DocumentNames, namesOf } from "../run/discover/discovery.js";
import { countOf, nameAndId } from "../words.js";
import type { Opening } from "./ask-opening.js";
import { countRequests, type DocumentRequests } from "./count-requests.js";
import type { EarlierRun } from "./earlier-run.js";
import type { Evidence } from "./evidence.js";
import type { Certainty, ChildMode } from "./job-plan.js";

/** The requests of a run in one mode of child_chunks. */
export interface Forecast {
  readonly mode: ChildMode;
  readonly requests: number;
  readonly pages: number;
  readonly lists: number;
  readonly certainty: Certainty;
  /** In the order of the job. */
  readonly documents: readonly DocumentRequests[];
}

/** The most reasons to name: a job of many documents can have very many. */
const named = 20;

interface ForecastBasis {
  readonly opening: Opening;
  readonly evidence: Evidence;
  readonly earlier: EarlierRun;
}

/** Adds up the requests of all documents, and those around them. */
export function forecast(
  mode: ChildMode,
  job: Job,
  { opening, evidence, earlier: { continued } }: ForecastBasis,
): Forecast {
  const documents = evidence.surveys.map((survey) => countRequests(survey, evidence, mode, job.consistency));
  const sum = (of: (document: DocumentRequests) => number) => documents.reduce((total, each) => total + of(each), 0);
  const [pages, lists, unasked] = [sum((each) => each.pages), sum((each) => each.lists), sum((each) => each.unasked)];
  const isContinued = continued !== undefined && mode === job.childChunks;
  const why = [
    ...(isContinued
      ? [`the interrupted run ${continued} will be resumed and sends fewer requests, unless you give --fresh`]
      : []),
    ...opening.doubts,
    ...unaskedText(unasked),
    ...groupedDoubts(documents, evidence, namesOf(opening.discovery)),
  ];
  const atLeast = isContinued ? 0 : opening.requests + sum((each) => each.atLeast);
  const certainty = { exact: why.length === 0, at_least: atLeast, why };
  return { mode, requests: opening.requests + opening.downloads + pages + lists, pages, lists, documents, certainty };
}

/** Names the child lists that were not asked; empty for none. */
export function unaskedText(chunks: number): readonly string[] {
  if (chunks === 0) return [];
  const lists = chunks === 1 ? "the child list of 1 chunk was" : `the child lists of ${chunks} chunks were`;
  return [`${lists} not read: each takes one request, or more if it is longer than a page`];
}

/** A doubt of one document with its id, one of several with their number. */
function groupedDoubts(
  documents: readonly DocumentRequests[],
  { surveys }: Evidence,
  names: DocumentNames,
): readonly string[] {
  const places = new Map<string, number[]>();
  for (const [at, { doubts }] of documents.entries()) {
    for (const doubt of doubts) places.set(doubt, [...(places.get(doubt) ?? []), at]);
  }
  const sentences = [...places].map(([doubt, at]) => {
    const id = surveys[at[0] ?? 0]?.ref.documentId ?? "";
    const who = at.length === 1 ? `document ${nameAndId(names.get(id), id)}` : `${at.length} documents`;
    return `${who}: ${doubt}`;
  });
  const more = sentences.length - named;
  return more > 0 ? [...sentences.slice(0, named), `and ${countOf(more, "more reason")}`] : sentences;
}
