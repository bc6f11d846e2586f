import type { RequestTally } from "../client/request-tally.js";
import type { Job } from "../job/job.js";
import { namesOf } from "../run/discover/discovery.js";
import { requestCounts } from "../run/manifest.js";
import { countOf, nameAndId } from "../words.js";
import type { Opening } from "./ask-opening.js";
import type { EarlierRun } from "./earlier-run.js";
import type { Evidence } from "./evidence.js";
import { type Forecast, forecast, unaskedText } from "./forecast.js";
import type { ByMode, ChildMode, JobPlan, PlanCounts, PlanDisk, PlannedDocument } from "./job-plan.js";
import { quirksOf } from "./quirks.js";
import { receivedBytes } from "./received.js";
import type { RowSizes } from "./row-sizes.js";

/** Everything that was asked, to make a plan of. */
export interface Asked {
  readonly job: Job;
  readonly baseUrl: string;
  readonly opening: Opening;
  readonly evidence: Evidence;
  readonly sizes: RowSizes;
  readonly earlier: EarlierRun;
  readonly disk: PlanDisk;
  readonly requests: RequestTally;
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
