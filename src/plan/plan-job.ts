import { join } from "node:path";
import { pageSize } from "../client/knowledge-api.js";
import type { Client, OnAnswer } from "../client/open-client.js";
import type { RequestCounts } from "../client/request-counts.js";
import { discoverDocuments } from "../crawl/discover-documents.js";
import { type Discovery, documentsOf, namesOf, uploadsOf } from "../crawl/discovery.js";
import { writeGivenList } from "../crawl/document-list-file.js";
import { Prefetch } from "../crawl/prefetch.js";
import { readMetadataFields } from "../crawl/read-details.js";
import { BusyError, StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { countOriginalRequests } from "../originals/file-routes.js";
import { requestCounts } from "../run/write-manifest.js";
import { findEarlierWork } from "../segments/resume.js";
import { captureStatus } from "../status/capture-status.js";
import { foldersOf } from "../store/folder/job-folders.js";
import { readLock, refuseHeld } from "../store/folder/lock.js";
import { countOf, nameAndId } from "../words.js";
import {
  type ChildMode,
  countDetailed,
  type DocumentForecast,
  diskSpace,
  forecastDocument,
  likeIn,
} from "./forecast.js";
import type { JobPlan, PlannedDocument, Quirk } from "./plan-result.js";
import { type DocumentSurvey, pageSizesOf, surveyDocuments } from "./survey.js";

export interface PlanOptions extends Pick<RunOptions, "env" | "signal" | "progress" | "log" | "now"> {
  /** The file for the list of documents, for `run --documents-from`; undefined: none is written. */
  readonly documentsOut?: string | undefined;
}

/** Maximum requests to prefetch per concurrent request. */
const aheadPerSlot = 4;

/**
 * Asks what a job would read, and forecasts the requests and disk space of a run. Writes nothing except the list of documents, if
 * requested. Throws StopError if nothing can be read or that list would be incomplete, UsageError without a key, or the reason of
 * the signal.
 */
export async function planJob(job: Job, options: PlanOptions = {}): Promise<JobPlan> {
  const context = withDefaults(options);
  const { progress, now } = context;
  const answers = new AnswerLog();
  const start = performance.now();
  await using service = await openService(job, context, { onAnswer: answers.add });
  const { client, baseUrl } = service;
  const prefetch = new Prefetch(job.service.concurrency * aheadPerSlot);

  progress.step = "listing documents";
  const listedAt = now();
  const opening = await askOpening(client, job, { prefetch, requests: progress.requests, now });
  const { discovery } = opening;
  const { documentsOut } = options;
  if (documentsOut !== undefined) await writeGivenList(documentsOut, discovery, { job, listedAt });

  progress.step = "counting chunks";
  const refs = documentsOf(discovery).map(({ ref }) => ref);
  const surveys = await surveyDocuments(client, refs, { prefetch, progress, hasChildren: job.childChunks !== "none" });
  requireSomething(surveys);

  const sizes = pageSizesOf(surveys);
  const basis = { job, sizes, like: likeIn(surveys) };
  const forecasts = surveys.map((survey) => forecastDocument(survey, basis));
  const sum = (of: (forecast: DocumentForecast) => number) => forecasts.reduce((total, each) => total + of(each), 0);
  const detailed = countDetailed(surveys, job.details);
  const uploads = job.originals ? uploadsOf(discovery).map(({ ref }) => ref) : [];
  const originals = await countOriginalRequests(client, uploads, detailed);
  const fixed = opening.requests + detailed + originals.requests;
  const requestsFor = (mode: ChildMode) =>
    fixed + sum(({ pages, lists, attachments }) => pages + lists[mode] + attachments);
  const requests = { all: requestsFor("all"), auto: requestsFor("auto"), none: requestsFor("none") };
  const disk = await diskSpace(
    job,
    sum(({ bytes }) => bytes),
  );
  const failed = surveys.filter(({ error }) => error !== null);
  const asked = { ...requestCounts(progress.requests), seconds: Math.round(performance.now() - start) / 1000 };
  return {
    status: opening.failures.length + failed.length === 0 ? "complete" : "partial",
    job: job.name,
    service: { base_url: baseUrl },
    child_chunks: job.childChunks,
    consistency: job.consistency,
    details: job.details,
    counts: {
      datasets: discovery.datasets.length,
      batches: opening.batches,
      documents: surveys.length,
      documents_failed: failed.length,
      chunks: surveys.reduce((total, survey) => total + (survey.total ?? 0), 0),
      child_chunks: sum(({ children }) => children),
      document_details: detailed,
    },
    requests: { ...requests, this_job: requests[job.childChunks] },
    least_seconds: answers.leastSeconds(job, {
      all: requests[job.childChunks],
      chunk_page: sum(({ pages }) => pages),
      child_list: sum(({ lists }) => lists[job.childChunks]),
    }),
    latency: answers.latency,
    disk,
    quirks: quirksOf({
      surveys,
      chunkPage: sizes.chunks,
      isCompressed: answers.isCompressed,
      throttled: progress.requests.throttled,
      refusedLists: failed.find(({ lacksLists }) => lacksLists)?.error ?? undefined,
    }),
    documents: plannedDocuments(surveys, forecasts, job, discovery),
    asked,
    warnings: [
      ...failed.map(({ ref, error }) => {
        const name = namesOf(discovery).get(ref.documentId);
        return `document ${nameAndId(name, ref.documentId)} cannot be read: ${error}`;
      }),
      ...opening.failures,
      ...(discovery.found?.notes ?? []),
      ...(await earlierRunNotes(job, now)),
      ...(disk.enough === false ? [`not enough free disk space in ${disk.folder} for this run`] : []),
      ...(asked.retried > 0
        ? [`${countOf(asked.retried, "retried request")} in this plan; expect the same in a run`]
        : []),
    ],
    documents_out: documentsOut ?? null,
  };
}

/** The answers from the service that a run needs before it reads documents. */
interface Opening {
  readonly discovery: Discovery;
  readonly batches: number;
  /** Requests that a run sends for these answers and for the settings of datasets. */
  readonly requests: number;
  /** A sentence for every list that could not be read. */
  readonly failures: readonly string[];
}

/** Sends the same requests as a run for the documents, the status of every batch and the metadata fields. */
async function askOpening(
  api: Client,
  job: Job,
  { prefetch, requests, now }: { prefetch: Prefetch; requests: RequestCounts; now: () => Date },
): Promise<Opening> {
  const discovery = await discoverDocuments(api, job, prefetch);
  const { datasets, found } = discovery;
  const [status, fields] = await Promise.all([captureStatus(api, datasets, now), readMetadataFields(api, datasets)]);
  const batches = datasets.reduce((sum, dataset) => sum + dataset.batches.length, 0);
  const settings = job.details === false ? 0 : 3 * datasets.length; // settings, fields and tags of each dataset
  const sent = requests.sent - requests.retried + batches + (found?.pages ?? 0) + settings; // batches and lists are read again
  return {
    discovery,
    batches,
    requests: sent,
    failures: [...(found?.failures ?? []), ...status.failures, ...fields.failures],
  };
}

/** Throws the error of the first document if none can be read. */
function requireSomething(surveys: readonly DocumentSurvey[]): void {
  const [first] = surveys;
  if (!first || surveys.some(({ total }) => total !== null)) return;
  const which = surveys.length === 1 ? "the document" : `none of the ${surveys.length} documents`;
  const what = surveys.length === 1 ? "cannot be read" : "can be read; the first";
  throw new StopError(`${which} ${what}: ${first.error}`);
}

function plannedDocuments(
  surveys: readonly DocumentSurvey[],
  forecasts: readonly DocumentForecast[],
  { childChunks }: Job,
  discovery: Discovery,
): readonly PlannedDocument[] {
  const names = namesOf(discovery);
  const datasetNames = new Map(discovery.found?.listings.map(({ dataset_id, name }) => [dataset_id, name]));
  return surveys.map(({ ref, total, docForm, error }, at) => {
    const forecast = forecasts[at];
    return {
      dataset_id: ref.datasetId,
      dataset_name: datasetNames.get(ref.datasetId) ?? null,
      document_id: ref.documentId,
      document_name: names.get(ref.documentId) ?? null,
      doc_form: docForm,
      chunks: total,
      child_chunks: total === null ? null : (forecast?.children ?? 0),
      requests: (forecast?.pages ?? 0) + (forecast?.lists[childChunks] ?? 0) + (forecast?.attachments ?? 0),
      error,
    };
  });
}

/** Notes on how an earlier run of the job affects the next run. Changes nothing, not even the lock. */
async function earlierRunNotes(job: Job, now: () => Date): Promise<readonly string[]> {
  const folders = foldersOf(job);
  const path = join(folders.private, "lock");
  const lock = await readLock(path).catch(() => undefined); // a plan does not need it
  try {
    if (lock) await refuseHeld(path, lock, Date.now());
  } catch (error) {
    if (error instanceof BusyError) return [`latencies may be too high: ${error.message}`];
    throw error;
  }
  const work = await findEarlierWork(folders, job, now);
  return work
    ? [`the interrupted run ${work.runId} will be resumed and sends fewer requests, unless you give --fresh`]
    : [];
}

/** Maximum latencies to keep per kind: enough for a median. */
const kept = 5_000;

/** Records the latency of every answer to the plan, and whether answers are compressed. */
class AnswerLog {
  isCompressed = false;
  readonly #milliseconds: Record<"chunk_page" | "child_list" | "other", number[]> = {
    chunk_page: [],
    child_list: [],
    other: [],
  };
  #answers = 0;

  readonly add: OnAnswer = ({ path, query }, { status, headers }, milliseconds) => {
    this.isCompressed ||= String(headers["content-encoding"] ?? "identity").toLowerCase() !== "identity";
    if (status !== 200) return;
    this.#answers++;
    const isPage = path.endsWith("/segments") && query.some(([name, value]) => name === "limit" && value === "100");
    const kind = path.endsWith("/child_chunks") ? "child_list" : isPage ? "chunk_page" : "other";
    if (this.#milliseconds[kind].length < kept) this.#milliseconds[kind].push(milliseconds);
  };

  get latency(): JobPlan["latency"] {
    return { chunk_page: this.#median("chunk_page"), child_list: this.#median("child_list"), answers: this.#answers };
  }

  /** The time for all requests at median latency and full concurrency, or at max_rps if that is slower. */
  leastSeconds({ service }: Job, requests: { all: number; chunk_page: number; child_list: number }): number {
    const { all, chunk_page: pages, child_list: lists } = requests;
    const { chunk_page: page, child_list: list } = this.latency;
    const waited = pages * (page ?? 0) + lists * (list ?? 0) + (all - pages - lists) * (this.#median("other") ?? 0);
    const allowed = service.maxRps === undefined ? 0 : all / service.maxRps;
    return Math.round(Math.max(waited / service.concurrency, allowed) * 10) / 10;
  }

  #median(kind: "chunk_page" | "child_list" | "other"): number | null {
    const sorted = this.#milliseconds[kind].toSorted((a, b) => a - b);
    const middle = sorted[Math.ceil(sorted.length / 2) - 1];
    return middle === undefined ? null : Math.round(middle * 10) / 10_000;
  }
}

/** Facts about the service from the plan's requests. */
export interface Observations {
  readonly surveys: readonly DocumentSurvey[];
  /** Rows per page of chunks. */
  readonly chunkPage: number;
  readonly isCompressed: boolean;
  /** Requests refused because there were too many. */
  readonly throttled: number;
  /** The error of a document whose chunks can be read but not its child lists. */
  readonly refusedLists: string | undefined;
}

/** The behaviours of this service that matter to users. docs/commands.md lists all names. */
export function quirksOf({
  surveys,
  chunkPage,
  isCompressed,
  throttled,
  refusedLists,
}: Observations): readonly Quirk[] {
  const quirks: Quirk[] = [];
  const add = (name: string, finding: string, meaning: string) => quirks.push({ name, finding, meaning });
  if (chunkPage === Number.POSITIVE_INFINITY)
    add(
      "paging",
      "page 1 holds everything",
      "one answer holds a whole document: service.max_body and timeout must allow it",
    );
  else if (chunkPage < pageSize)
    add(
      "page_cap",
      `at most ${chunkPage} rows per page`,
      `a run takes ${Math.round((10 * pageSize) / chunkPage) / 10} times as many pages of chunks`,
    );
  if (surveys.some(({ sample }) => sample?.repeats))
    add(
      "paging",
      "every page repeats page 1",
      "documents of more than one page cannot be read completely: the run will be partial",
    );
  if (refusedLists !== undefined)
    add("child_lists", refusedLists, "documents fail unless the job says child_chunks: none");
  const documents = (embedding: string) => surveys.filter(({ sample }) => sample?.embedding === embedding).length;
  const differing = documents("differs");
  if (differing > 0)
    add(
      "embedded_children",
      `differ from the child lists in ${countOf(differing, "document")}`,
      "child_chunks: auto reads every list there",
    );
  else if (documents("agrees") > 0)
    add("embedded_children", "agree with the child lists", "child_chunks: auto needs fewer requests");
  if (!isCompressed)
    add(
      "compression",
      "no answer was compressed",
      "enable gzip in the service or its proxy to receive far fewer bytes",
    );
  if (throttled > 0)
    add(
      "throttling",
      `${countOf(throttled, "request")} refused by a rate limit`,
      "a run will slow down as this plan did; set service.max_rps",
    );
  return quirks;
}
