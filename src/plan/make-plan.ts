import type { RequestTally } from "../client/request-tally.js";
import type { Job } from "../job/job.js";
import { requestCounts } from "../run/manifest.js";
import type { Opening } from "./ask-opening.js";
import { childrenOf, isReadTwice } from "./count-requests.js";
import type { DocumentSurvey } from "./document-survey.js";
import type { EarlierRun } from "./earlier-run.js";
import { type DocumentReading, receivedBytes } from "./estimate-received.js";
import { type Estimate, estimateTime } from "./estimate-time.js";
import type { Evidence } from "./evidence.js";
import { type Forecast, forecast, unaskedText } from "./forecast.js";
import type { ByMode, JobPlan, PlanCounts, PlanDisk, PlannedDocument } from "./job-plan.js";
import { quirksOf } from "./quirks.js";
import type { ChildMode } from "./request-counts.js";
import type { RowSizes } from "./row-sizes.js";
import { type Written, writtenBy } from "./written.js";

/** Everything that was asked, to make a plan of. */
export interface Asked {
  readonly job: Job;
  readonly baseUrl: string;
  readonly opening: Opening;
  readonly evidence: Evidence;
  readonly sizes: RowSizes;
  readonly earlier: EarlierRun;
  readonly space: (written: Written) => Promise<PlanDisk>;
  readonly requests: RequestTally;
  readonly seconds: number;
}

/** Makes a plan of what was asked; of the disk it learns by `space`. */
export async function makePlan(asked: Asked): Promise<JobPlan> {
  const { job, opening, evidence, sizes } = asked;
  const counts = countsOf(asked);
  const forecasts = byMode((mode) => withEarlier(forecast(mode, job, opening, evidence), mode, asked));
  const mine = forecasts[job.childChunks];
  const times = byMode((mode) => timeOf(mode, forecasts[mode], counts, asked));
  const disk = await asked.space(writtenBy(evidence.surveys, job.childChunks !== "none"));
  const documents = plannedDocuments(mine, asked);
  return {
    status: opening.failures.length + counts.documents_failed === 0 ? "complete" : "partial",
    job: job.name,
    service: { base_url: asked.baseUrl },
    child_chunks: job.childChunks,
    consistency: job.consistency,
    counts,
    requests: { ...byMode((mode) => forecasts[mode].requests), this_job: mine.requests },
    certainty: { ...byMode((mode) => forecasts[mode].certainty), this_job: mine.certainty },
    time: {
      seconds: { ...byMode((mode) => times[mode].seconds), this_job: times[job.childChunks].seconds },
      bound_by: times[job.childChunks].boundBy,
      latency: latencyOf(evidence),
    },
    received: {
      bytes: withThis(job, (mode) => bytesOf(mode, forecasts[mode], asked)),
      sample: { chunks: sizes.rows("chunks"), child_chunks: sizes.rows("child_chunks") },
    },
    disk,
    quirks: quirksOf(evidence),
    documents,
    asked: { ...requestCounts(asked.requests), seconds: Math.round(asked.seconds * 1000) / 1000 },
    warnings: warningsOf(asked, disk, documents),
  };
}

function byMode<T>(of: (mode: ChildMode) => T): Readonly<Record<ChildMode, T>> {
  return { all: of("all"), auto: of("auto"), none: of("none") };
}

function withThis<T>({ childChunks }: Job, of: (mode: ChildMode) => T): ByMode<T> {
  const each = byMode(of);
  return { ...each, this_job: each[childChunks] };
}

function countsOf({ job, opening, evidence: { surveys } }: Asked): PlanCounts {
  const children = surveys.map(childrenOf);
  const failed = surveys.filter(({ total, error }) => total === null || (error !== null && job.childChunks !== "none"));
  return {
    datasets: opening.discovery.datasets.length,
    batches: opening.batches,
    documents: surveys.length,
    documents_failed: failed.length,
    chunks: surveys.reduce((sum, { total }) => sum + (total ?? 0), 0),
    child_chunks: children.reduce((sum, { count }) => sum + count, 0),
    child_chunks_exact: children.every(({ exact }) => exact) && failed.length === 0,
    child_lists_known: surveys.reduce((sum, survey) => sum + survey.children.known, 0),
  };
}

/** A run that is continued has part of it behind it. */
function withEarlier(forecast: Forecast, mode: ChildMode, { job, earlier }: Asked): Forecast {
  if (earlier.continued === undefined || mode !== job.childChunks) return forecast;
  const { certainty } = forecast;
  const continued = `run ${earlier.continued} broke off and is continued: it sends fewer requests, unless --fresh is given`;
  return { ...forecast, certainty: { exact: false, at_least: 0, why: [continued, ...certainty.why] } };
}

function timeOf(mode: ChildMode, { requests, pages, lists }: Forecast, counts: PlanCounts, asked: Asked): Estimate {
  const { job, evidence } = asked;
  const { answers } = evidence;
  const latencies = {
    chunkPage: answers.of("chunk_page").latency ?? answers.of("chunk").latency,
    childList: answers.of("child_list").latency,
    other: answers.of("other").latency,
  };
  const work = {
    chunkPages: pages,
    childLists: lists,
    otherRequests: requests - pages - lists,
    rows: counts.chunks + (mode === "none" ? 0 : counts.child_chunks),
    formats: job.output.formats,
  };
  return estimateTime(work, latencies, job.service);
}

/**
 * Extrapolated from what came; and of what came, nothing that this mode asks for as well is left out. A plan asks for some
 * rows that a run of the same job does not, a few: then the forecast is rather that much too large.
 */
function bytesOf(
  mode: ChildMode,
  { requests, lists, documents }: Forecast,
  { evidence, job, requests: sent }: Asked,
): number {
  const readings = evidence.surveys.map((survey, at): DocumentReading => {
    const { lists = 0, sweeps = 1 } = documents[at] ?? {};
    const chunks = sweeps * (survey.total ?? 0);
    const children = childrenRead(survey, { mode, lists, isTwice: isReadTwice(survey, job.consistency) }, evidence);
    return { ref: survey.ref, docForm: survey.docForm, chunks, children };
  });
  const bytes = receivedBytes(evidence.answers, sent.bytes, { requests, documents: readings });
  const seen = evidence.answers.of("child_list");
  const left = mode === job.childChunks ? 0 : seen.bytes * (1 - Math.min(1, lists / Math.max(1, seen.answers)));
  return Math.max(bytes, Math.round(sent.bytes - left));
}

/** Children in the lists that are asked, those of the second sweep included. */
function childrenRead(
  survey: DocumentSurvey,
  { mode, lists, isTwice }: { readonly mode: ChildMode; readonly lists: number; readonly isTwice: boolean },
  { childPages }: Evidence,
): number {
  const { count } = childrenOf(survey);
  if (mode !== "all") return count * Math.min(1, lists / Math.max(1, survey.total ?? 0));
  const again = survey.children.rowsOfLong(childPages.rows) / Math.max(1, survey.children.sum);
  return Math.round(count * (1 + (isTwice ? again : 0)));
}

function latencyOf({ answers }: Evidence): JobPlan["time"]["latency"] {
  const [page, list] = [answers.of("chunk_page"), answers.of("child_list")];
  const round = (milliseconds = Number.NaN) => (Number.isNaN(milliseconds) ? null : Math.round(milliseconds * 10) / 10);
  return {
    chunk_page: round(page.latency),
    chunk_pages: page.answers,
    child_list: round(list.latency),
    child_lists: list.answers,
  };
}

function plannedDocuments({ documents }: Forecast, { evidence }: Asked): readonly PlannedDocument[] {
  return evidence.surveys.map((survey, at): PlannedDocument => {
    const { pages = 0, lists = 0, unasked = 0, doubts = [] } = documents[at] ?? {};
    const { count, exact } = childrenOf(survey);
    const why = [...unaskedText(unasked), ...doubts];
    return {
      dataset_id: survey.ref.datasetId,
      document_id: survey.ref.documentId,
      doc_form: survey.docForm,
      chunks: survey.total,
      child_chunks: survey.total === null ? null : count,
      child_chunks_exact: exact && survey.error === null,
      requests: pages + lists,
      exact: why.length === 0,
      why,
      error: survey.error,
    };
  });
}

function warningsOf(
  { opening, requests, earlier }: Asked,
  disk: PlanDisk,
  documents: readonly PlannedDocument[],
): readonly string[] {
  const failed = documents.filter(({ error }) => error !== null);
  return [
    ...failed.map(({ document_id, error }) => `document ${document_id} cannot be read: ${error}`),
    ...opening.failures,
    ...(opening.discovery.found?.notes ?? []),
    ...(earlier.atWork === undefined ? [] : [`figures of time suffer: ${earlier.atWork}`]),
    ...(disk.enough === false ? [`the disk of ${disk.folder} has less room than a run needs`] : []),
    ...(requests.retried > 0
      ? [`${requests.retried} requests of this plan had to be sent again: those of a run will, too`]
      : []),
  ];
}
