import { basename } from "node:path";
import type { Client } from "../../client/open-client.js";
import type { RequestCounts } from "../../client/request-counts.js";
import { type DocumentToRead, documentsOf } from "../../crawl/discovery.js";
import { discoveryFrom, documentListFromText } from "../../crawl/document-list.js";
import type { Prefetch } from "../../crawl/prefetch.js";
import type { TextFormat } from "../../dump/formats/format.js";
import { isRunId } from "../../dump/run-id.js";
import { isThere } from "../../files/files.js";
import type { SegmentFile } from "../../files/join-segments.js";
import type { Job } from "../../job/job.js";
import { emptyRunProgress, type RunProgress } from "../../job/run-progress.js";

import { valueIf } from "../../schema.js";
import type { DumpedDocument } from "../../segments/document-result.js";
import { dumpDocument } from "../../segments/dump-document.js";
import { planHash } from "../../store/earlier-work.js";
import { tool } from "../../tool.js";
import {
  type ExchangePlan,
  listFile,
  listHash,
  planFile,
  readPlan,
  type SubmittedResult,
  type TriedReason,
  type WorkerRequests,
} from "../accept-document.js";
import { type DocumentJob, documentJobSchema, refusalOf } from "../document-queue.js";
import type { Attempt, AttemptFile, Exchange } from "../exchange/exchange.js";
import type { ProgressReport } from "../workers-progress.js";

/** Everything that a worker needs to read a document. */
export interface Taking {
  readonly job: Job;
  readonly name: string;
  readonly client: Client;
  readonly formats: readonly TextFormat[];
  readonly prefetch: Prefetch;
  readonly exchangeOf: (runId: string) => Promise<Exchange>;
  readonly known: KnownRuns;
  readonly requests: ReportedRequests;
}

/** read: the run has it. late: another worker was faster. over: so is the run. failed: the document could not be read whole. */
export type Taken = {
  readonly outcome: "read" | "late" | "over" | "failed";
  readonly document: DumpedDocument | undefined;
};

/** This worker must not read the document; the message says why. */
export class RefusedError extends Error {}

/** Hears of a document while it is read. */
interface TakingListener {
  /** It is certain that this worker may read the document; it belongs to this run. */
  readonly began: (runId: string) => void;
  /** How far the document is, about once a second. */
  readonly read: (read: ProgressReport) => void;
}

/**
 * Reads one document for a run and submits it. Rejects with RefusedError where it
 * is none of this worker's, and with what ends a run: a service that cannot be reached, a full disk.
 */
export async function takeDocument(queued: unknown, taking: Taking, listener: TakingListener): Promise<Taken> {
  const { document, exchange, runId } = await findDocument(queued, taking);
  listener.began(runId);
  const progress = emptyRunProgress();
  const timer = setInterval(() => listener.read(readSoFar(progress, taking)), 1_000);
  let attempt: Attempt | undefined;
  try {
    attempt = await exchange.begin(document.name);
    if (!attempt) return { outcome: "over", document: undefined };
    return await readAndSubmit(document, attempt, progress, taking);
  } catch (error) {
    taking.client.signal.throwIfAborted();
    if (await isOver(exchange)) return { outcome: "over", document: undefined }; // its folder was removed meanwhile
    if (attempt && !(await isThere(attempt.folder))) return { outcome: "failed", document: undefined }; // and the run started over
    throw error;
  } finally {
    clearInterval(timer);
    await attempt?.drop();
  }
}

/** The document that the queue means, once it is certain that this worker may read it. */
async function findDocument(
  queued: unknown,
  { job, exchangeOf, known }: Taking,
): Promise<{ readonly document: DocumentToRead; readonly exchange: Exchange; readonly runId: string }> {
  const asked: DocumentJob | undefined = valueIf(documentJobSchema, queued);
  if (!asked || !isRunId(asked.run_id)) throw new RefusedError("this is no document of a run");
  const exchange = await exchangeOf(asked.run_id);
  const run = await known.of(exchange);
  const own = { version: tool.version, plan: planHash(job, run?.plan.list ?? undefined) };
  const refusal = refusalOf(asked, run?.plan, own);
  if (refusal !== undefined) throw new RefusedError(refusal);
  const document = run?.documents.get(asked.name);
  const isSame = document?.ref.datasetId === asked.dataset_id && document.ref.documentId === asked.document_id;
  if (!document || !isSame)
    throw new RefusedError(`document ${asked.document_id} is not in the list of run ${asked.run_id}`);
  return { document, exchange, runId: asked.run_id };
}

async function readAndSubmit(
  { ref, name }: DocumentToRead,
  attempt: Attempt,
  progress: RunProgress,
  { job, name: worker, client, formats, prefetch, requests }: Taking,
): Promise<Taken> {
  const segments = {
    job,
    formats,
    segments: attempt.folder,
    begun: new Set<string>(),
    prefetch,
    progress,
    retryFailed: false,
  };
  const document = await dumpDocument(client, ref, name, segments);
  const { row, drift, childLists, proof } = document;
  if (row.status !== "complete") {
    const tried: TriedReason = { worker, status: row.status, error: row.error ?? "", requests: requests.take() };
    await attempt.giveUp(JSON.stringify(tried));
    return { outcome: "failed", document };
  }
  const files = document.files.flatMap(filesOf);
  const submitted: SubmittedResult = {
    worker,
    token: attempt.token,
    result: { row, drift, childLists, proof },
    files,
    pages: progress.pagesDone,
    requests: requests.take(),
  };
  const isFirst = (await attempt.submit(files, JSON.stringify(submitted))) === "first";
  return { outcome: isFirst ? "read" : "late", document };
}

/** A document that was just read has each part in a file of its own. */
function filesOf(segment: SegmentFile): readonly AttemptFile[] {
  if (segment.start !== undefined) throw new Error(`${segment.path} holds the rows of several documents`);
  const { path, bytes, sha256 } = segment;
  return [{ file: basename(path), bytes, sha256 }];
}

function readSoFar(progress: RunProgress, { name: worker, requests }: Taking): ProgressReport {
  const { chunks, child_chunks, pagesExpected: pages_expected, pagesDone: pages } = progress;
  return { worker, sent: requests.sent, untold: requests.unreported, chunks, child_chunks, pages_expected, pages };
}

/** Whether the run has let go of its exchange. */
async function isOver(exchange: Exchange): Promise<boolean> {
  return (await exchange.read(planFile)) === undefined;
}

/** A run that distributes documents, as the worker finds it in the output. */
interface KnownRun {
  readonly plan: ExchangePlan;
  /** The documents of the run by the names of their parts. */
  readonly documents: ReadonlyMap<string, DocumentToRead>;
}

/** Reads the lists of runs: that of the present run stays in memory, for as long as its plan has its hash. */
export class KnownRuns {
  readonly #job: Job;
  #hash: string | undefined;
  #documents: ReadonlyMap<string, DocumentToRead> = new Map();

  constructor(job: Job) {
    this.#job = job;
  }

  /** The run of an exchange; undefined where it is over, or is not in the output of this worker. */
  async of(exchange: Exchange): Promise<KnownRun | undefined> {
    const plan = await readPlan(exchange);
    if (!plan) return undefined;
    if (this.#hash !== plan.list_sha256) {
      const list = await exchange.read(listFile);
      if (list === undefined || listHash(list) !== plan.list_sha256) return undefined;
      this.#documents = this.#documentsOf(list);
      this.#hash = plan.list_sha256;
    }
    return { plan, documents: this.#documents };
  }

  #documentsOf(text: string): ReadonlyMap<string, DocumentToRead> {
    const { value } = { value: undefined, ...documentListFromText(text) };
    if (!value) return new Map();
    const discovery = discoveryFrom({ ...value, rows: [], drift: {}, pages: 0 }, this.#job);
    return new Map(documentsOf(discovery).map((document) => [document.name, document]));
  }
}

/** Reports each request of a worker to its runs once: with the first result after it. */
export class ReportedRequests {
  readonly #progress: RequestCounts;
  #reported: WorkerRequests = { sent: 0, answered: 0, retried: 0, throttled: 0, bytes: 0, retriedBy: {} };

  constructor(progress: RequestCounts) {
    this.#progress = progress;
  }

  /** All requests that the worker has sent. */
  get sent(): number {
    return this.#progress.sent;
  }

  /** Answered requests since the last call of `take`. */
  get unreported(): number {
    return this.#progress.answered - this.#reported.answered;
  }

  /** The requests since the last call. */
  take(): WorkerRequests {
    const before = this.#reported;
    const { sent, answered, retried, throttled, bytes, retriedBy } = this.#progress;
    this.#reported = { sent, answered, retried, throttled, bytes, retriedBy: { ...retriedBy } };
    const since = Object.entries(retriedBy).map(([reason, times]) => [reason, times - (before.retriedBy[reason] ?? 0)]);
    return {
      sent: sent - before.sent,
      answered: answered - before.answered,
      retried: retried - before.retried,
      throttled: throttled - before.throttled,
      bytes: bytes - before.bytes,
      retriedBy: Object.fromEntries(since),
    };
  }
}
