import type { RequestCounts } from "../client/request-counts.js";
import { type DocumentNames, namesOf } from "../crawl/discovery.js";
import type { Job } from "../job/job.js";
import { requestCounts } from "../run/manifest.js";
import { countOf, nameAndId } from "../words.js";
import type { EarlierRun, Opening } from "./ask-opening.js";
import { countRequests, type DocumentRequests, isReadTwice } from "./count-requests.js";
import type { DocumentSurvey, RowSizes } from "./document-survey.js";
import type { Evidence } from "./inquiry.js";
import type { ByMode, Certainty, ChildMode, JobPlan, PlanCounts, PlanDisk, PlannedDocument } from "./job-plan.js";
import { quirksOf } from "./quirks.js";

/** Everything that was asked, to make a plan of. */
interface Asked {
  readonly job: Job;
  readonly baseUrl: string;
  readonly opening: Opening;
  readonly evidence: Evidence;
  readonly sizes: RowSizes;
  readonly earlier: EarlierRun;
  readonly disk: PlanDisk;
  readonly requests: RequestCounts;
  readonly seconds: number;
}

/** Makes a plan of what was asked. */
export function makePlan(asked: Asked): Omit<JobPlan, "documents_out"> {
  const { job, opening, evidence, sizes, disk } = asked;
  const counts = countsOf(asked);
  const forecasts = byMode(job, (mode) => forecast(mode, job, asked));
  const of = <T>(figure: (forecast: Forecast) => T): ByMode<T> => byMode(job, (mode) => figure(forecasts[mode]));
  const documents = plannedDocuments(forecasts.this_job, asked);
  return {
    status: opening.failures.length + counts.documents_failed === 0 ? "complete" : "partial",
    job: job.name,
    service: { base_url: asked.baseUrl },
    child_chunks: job.childChunks,
    consistency: job.consistency,
    counts,
    requests: of(({ requests }) => requests),
    certainty: of(({ certainty }) => certainty),
    time: {
      least_seconds: of((forecast) => leastSeconds(forecast, evidence, job)),
      latency: {
        chunk_page: evidence.answers.of("chunk_page").latency,
        child_list: evidence.answers.of("child_list").latency,
      },
    },
    received: {
      bytes: of((forecast) => bytesOf(forecast, asked)),
      sample: { chunks: sizes.measured("chunks"), child_chunks: sizes.measured("child_chunks") },
    },
    disk,
    quirks: quirksOf(evidence),
    documents,
    asked: { ...requestCounts(asked.requests), seconds: Math.round(asked.seconds * 1000) / 1000 },
    warnings: warningsOf(asked, documents),
  };
}

function byMode<T>({ childChunks }: Job, of: (mode: ChildMode) => T): ByMode<T> {
  const each = { all: of("all"), auto: of("auto"), none: of("none") };
  return { ...each, this_job: each[childChunks] };
}

function countsOf({ job, opening, evidence: { surveys } }: Asked): PlanCounts {
  const failed = surveys.filter(({ total, error }) => total === null || (error !== null && job.childChunks !== "none"));
  return {
    datasets: opening.discovery.datasets.length,
    batches: opening.batches,
    documents: surveys.length,
    documents_failed: failed.length,
    chunks: surveys.reduce((sum, { total }) => sum + (total ?? 0), 0),
    child_chunks: surveys.reduce((sum, { childCount }) => sum + childCount.count, 0),
    child_chunks_exact: surveys.every(({ childCount }) => childCount.exact) && failed.length === 0,
    child_lists_known: surveys.reduce((sum, { children }) => sum + children.known, 0),
  };
}

/** The median latencies of all requests one after another, in as many lanes as may be in flight; or what max_rps allows. */
function leastSeconds({ requests, pages, lists }: Forecast, { answers }: Evidence, { service }: Job): number {
  const median = (kind: Parameters<typeof answers.of>[0]) => answers.of(kind).latency.median_seconds ?? 0;
  const others = requests - pages - lists;
  const waited = pages * median("chunk_page") + lists * median("child_list") + others * median("other");
  const allowed = service.maxRps === undefined ? 0 : requests / service.maxRps;
  return Math.round(Math.max(waited / service.concurrency, allowed) * 10) / 10;
}

/** A run of this job asks for nearly all that the plan asked for: it never receives less. */
function bytesOf(forecast: Forecast, { evidence, job, requests: { bytes } }: Asked): number {
  const { answers } = evidence;
  const scale = answers.bytes > 0 ? bytes / answers.bytes : 1;
  const expected = Math.round(scale * receivedBytes(forecast, evidence, job));
  return forecast.mode === job.childChunks ? Math.max(bytes, expected) : expected;
}

function plannedDocuments(
  { documents }: Forecast,
  { evidence: { surveys }, opening }: Asked,
): readonly PlannedDocument[] {
  const names = namesOf(opening.discovery);
  const datasetNames = new Map(opening.discovery.found?.listings.map(({ dataset_id, name }) => [dataset_id, name]));
  return surveys.map(({ ref, total, docForm, childCount, error }, at): PlannedDocument => {
    const { pages = 0, lists = 0, unasked = 0, doubts = [] } = documents[at] ?? {};
    const why = [...unaskedText(unasked), ...doubts];
    return {
      dataset_id: ref.datasetId,
      dataset_name: datasetNames.get(ref.datasetId) ?? null,
      document_id: ref.documentId,
      document_name: names.get(ref.documentId) ?? null,
      doc_form: docForm,
      chunks: total,
      child_chunks: total === null ? null : childCount.count,
      child_chunks_exact: childCount.exact && error === null,
      requests: pages + lists,
      exact: why.length === 0,
      why,
      error,
    };
  });
}

function warningsOf(
  { opening, requests, earlier, disk }: Asked,
  documents: readonly PlannedDocument[],
): readonly string[] {
  const failed = documents.filter(({ error }) => error !== null);
  return [
    ...failed.map(
      ({ document_id, document_name, error }) =>
        `document ${nameAndId(document_name, document_id)} cannot be read: ${error}`,
    ),
    ...opening.failures,
    ...(opening.discovery.found?.notes ?? []),
    ...(earlier.atWork === undefined ? [] : [`latencies may be too high: ${earlier.atWork}`]),
    ...(disk.enough === false ? [`not enough free disk space in ${disk.folder} for this run`] : []),
    ...(requests.retried > 0
      ? [
          `${countOf(requests.retried, "request")} of this plan ${requests.retried === 1 ? "was" : "were"} retried; expect the same in a run`,
        ]
      : []),
  ];
}

/** Bytes of an answer that belong to no row: total, page, limit and the like. */
const envelope = 100;

/**
 * Bytes that a run receives: those that the plan received, in proportion to the rows that each of them reads. Languages,
 * embedded children and lengths differ from document to document, so that a row counts for the mean size of its document.
 */
function receivedBytes(forecast: Forecast, { answers, surveys, childPages }: Evidence, job: Job): number {
  const { pages, lists, requests, documents, mode } = forecast;
  const readings = surveys.map((survey, at) => {
    const { sweeps, lists } = documents[at] ?? { sweeps: 1, lists: 0 };
    const { count } = survey.childCount;
    const again = isReadTwice(survey, job.consistency) ? survey.children.rowsOfLong(childPages.rows) : 0;
    const whole = count * (1 + again / Math.max(1, survey.children.sum));
    const children = mode === "all" ? whole : count * Math.min(1, lists / Math.max(1, survey.total ?? 0));
    return { survey, chunks: sweeps * (survey.total ?? 0), children };
  });
  const sum = (of: (survey: DocumentSurvey, reading: (typeof readings)[number]) => number) =>
    readings.reduce((total, reading) => total + of(reading.survey, reading), 0);
  const [page, chunk, list, other] = [
    answers.of("chunk_page"),
    answers.of("chunk"),
    answers.of("child_list"),
    answers.of("other"),
  ];
  const received = { answers: page.answers + chunk.answers, bytes: page.bytes + chunk.bytes };
  const seen = (kind: "chunks" | "child_chunks") => sum(({ sizes }) => sizes.seen(kind) * sizes.mean(kind).json);
  const ofChunks = sum(({ sizes }, { chunks }) => chunks * sizes.mean("chunks").json);
  const ofChildren = sum(({ sizes }, { children }) => children * sizes.mean("child_chunks").json);
  return Math.round(
    receivedBytesOf(pages, ofChunks, received, seen("chunks")) +
      receivedBytesOf(lists, ofChildren, list, seen("child_chunks")) +
      ((requests - pages - lists) * other.bytes) / Math.max(1, other.answers),
  );
}

/** Bytes of so many requests for rows of that size in all, where `received` brought rows of the size `seen`. */
function receivedBytesOf(
  requests: number,
  size: number,
  received: { readonly answers: number; readonly bytes: number },
  seen: number,
): number {
  const share = seen === 0 ? 1 : Math.max(0, received.bytes - envelope * received.answers) / seen;
  return requests * envelope + size * share;
}

/** The requests of a run in one mode of child_chunks. */
interface Forecast {
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
function forecast(mode: ChildMode, job: Job, { opening, evidence, earlier: { continued } }: ForecastBasis): Forecast {
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
function unaskedText(chunks: number): readonly string[] {
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
