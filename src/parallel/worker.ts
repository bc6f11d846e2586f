import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Job as QueuedBatch, Worker } from "bullmq";
import type { DocumentRef } from "../client/knowledge-api.js";
import type { Client, Lane } from "../client/open-client.js";
import type { DocumentToRead } from "../crawl/discovery.js";
import { Prefetch } from "../crawl/prefetch.js";
import type { TextFormat } from "../dump/formats/format.js";
import { openTexts } from "../dump/formats/open-texts.js";
import { problemText, sayDiskError } from "../file-error.js";
import { forEachOf, isThere } from "../files/files.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job } from "../job/job.js";
import { openService, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress, readingDocuments, waitingForDocuments } from "../job/run-progress.js";
import { valueIf } from "../schema.js";
import { TooLargeError } from "../segments/document-attempt.js";
import { dumpDocument } from "../segments/dump-document.js";
import { documentsPerSlot, pagesPerSlot } from "../segments/read-documents.js";
import { addRequests, noRequests, type RequestSum } from "../segments/request-sum.js";
import { planHash } from "../segments/resume.js";
import type { SegmentFacts } from "../segments/segment.js";
import { tool } from "../tool.js";
import type { SubmittedResult } from "./accept-document.js";
import { type BatchLock, holdLock } from "./batch-lock.js";
import { atMost, type Broker, openBroker, watchBroker } from "./broker.js";
import { type Attempt, beginAttempt, type Exchange, planFile } from "./exchange.js";
import { openExchanges } from "./open-exchange.js";
import {
  type BatchData,
  type BatchEnd,
  batchSchema,
  hearPauses,
  lockTime,
  queueName,
  type RunPlan,
  refusal,
} from "./queue.js";
import type { WorkerOptions, WorkerResult } from "./worker-options.js";
import type { ProgressReport } from "./workers-progress.js";

/** Milliseconds between two checks for work, and between two checks of the broker. */
const pollEvery = 250;
const lookEvery = 2_000;
/** Milliseconds between checks for other workers' batches that are not renewed. */
const stalledInterval = 3_000;
/** Milliseconds that a worker rests after it refused a batch, so that others get it. */
const restTime = 5_000;
/** Milliseconds until the library retries a command after losing the broker. */
const runRetryDelay = 1_000;

/**
 * Works for a job's distributed runs, one after the other, until it has been idle for the time in the options,
 * or its signal ends it. Rejects with the reason of the signal, with UsageError (no key, an invalid address, missing libraries), and with
 * StopError if the service, the broker or the disk cannot be used.
 */
export async function workDocuments(job: Job, context: WorkerOptions): Promise<WorkerResult> {
  const broker = await openBroker(context.broker);
  let opened: DocumentWorker | undefined;
  try {
    await using service = await openService(job, withDefaults(context), {
      maxRps: () => opened?.rate ?? 0,
      onPause: (milliseconds) => void opened?.announcePause(milliseconds),
    });
    await using exchanges = await openExchanges(job, context);
    const formats = await openTexts(job.output.formats, job.output.csvSafe);
    const { client } = service;
    await using worker = new DocumentWorker(broker, { job, client, formats, context, exchangeOf: exchanges.of });
    opened = worker;
    return await worker.work();
  } catch (error) {
    throw sayDiskError(error, job.output.dir, "reading documents");
  } finally {
    broker.close();
  }
}

interface DocumentWorkerOptions {
  readonly job: Job;
  readonly client: Client;
  readonly formats: readonly TextFormat[];
  readonly context: WorkerOptions;
  readonly exchangeOf: (runId: string) => Promise<Exchange>;
}

/** This worker must not read the document; the message says why. */
class RefusedError extends Error {}

/** Takes batches of documents from a queue, reads them and submits the results. */
class DocumentWorker implements AsyncDisposable {
  readonly #broker: Broker;
  readonly #options: DocumentWorkerOptions;
  readonly #documentIn: ReturnType<typeof documentsOf>;
  readonly #worker: Worker<BatchData, BatchEnd>;
  readonly #connection: ReturnType<Broker["connect"]>;
  readonly #events: ReturnType<typeof hearPauses>;
  readonly #counts = { failed: 0, late: 0 };
  readonly #refusals = new Set<string>();
  /** The batches that this worker has, and how many requests a second it may send for each. */
  readonly #active = new Map<QueuedBatch<BatchData>, number>();
  readonly #failed = new AbortController();
  /** The requests that were reported with results so far. Each request is reported once, with the next result. */
  #reported = noRequests;
  #run = "";
  #lastWork = performance.now();

  constructor(broker: Broker, options: DocumentWorkerOptions) {
    const { job, client, context } = options;
    this.#broker = broker;
    this.#options = options;
    this.#documentIn = documentsOf(job);
    this.#connection = broker.connect({ enableOfflineQueue: false, commandTimeout: lockTime });
    this.#events = hearPauses(broker, job, client.pause);
    this.#worker = new broker.libraries.bullmq.Worker<BatchData, BatchEnd>(
      queueName(job),
      (batch, token) => this.#take(batch, token ?? ""),
      {
        connection: broker.connect(),
        name: context.name,
        concurrency: context.inFlight ?? job.service.concurrency,
        // A batch that is not renewed fails, and the coordinator hands out its documents again.
        ...{ lockDuration: lockTime, skipLockRenewal: true, stalledInterval, maxStalledCount: 0, runRetryDelay },
      },
    );
    this.#worker.on("error", () => {}); // it reconnects
  }

  /** Resolves when it has been idle long enough. */
  async work(): Promise<WorkerResult> {
    const { job, client, context } = this.#options;
    const { signal, progress, log, name, idle = Number.POSITIVE_INFINITY } = context;
    progress.step = waitingForDocuments;
    log("info", `worker ${name} takes documents of job ${job.name} from ${this.#broker.shown}`);
    const ends = AbortSignal.any([signal, this.#failed.signal]);
    const stop = () => client.stop(ends.reason); // also returns the worker's other documents to the queue
    ends.addEventListener("abort", stop, { once: true });
    const ask = watchBroker(this.#broker, log, ends);
    const looking = setInterval(() => void ask(() => this.#connection.ping()), lookEvery);
    while (!ends.aborted && (this.#active.size > 0 || performance.now() - this.#lastWork < idle))
      await delay(pollEvery, undefined, { signal: ends }).catch(() => {});
    clearInterval(looking);
    ends.throwIfAborted();
    const { documentsDone: documents, chunks, child_chunks, requests } = progress;
    return { status: "idle", name, documents, ...this.#counts, chunks, child_chunks, requests: requests.sent };
  }

  /** Takes no more batches, and waits briefly until documents are returned to the queue. */
  async [Symbol.asyncDispose](): Promise<void> {
    await atMost(this.#worker.close());
    await atMost(Promise.all([this.#worker.disconnect(), this.#events.close()]));
  }

  /** How many requests a second this worker may send. */
  get rate(): number {
    let sum = 0;
    for (const rate of this.#active.values()) sum += rate;
    return sum;
  }

  /** Makes all other workers and the coordinator wait, because the service asked for that. */
  async announcePause(milliseconds: number): Promise<void> {
    if (milliseconds <= 0) return;
    for (const batch of this.#active.keys()) {
      try {
        return await batch.updateProgress({ pause: Math.ceil(milliseconds) });
      } catch {} // this batch is gone from the queue: try the next one
    }
  }

  async #take(batch: QueuedBatch<BatchData>, token: string): Promise<BatchEnd> {
    const { progress } = this.#options.context;
    this.#active.set(batch, 0);
    progress.step = readingDocuments;
    try {
      using lock = await holdLock(batch, token);
      return await this.#read(batch, lock);
    } catch (error) {
      throw error instanceof RefusedError ? this.#refusalOf(error) : error;
    } finally {
      this.#active.delete(batch);
      this.#lastWork = performance.now();
      if (this.#active.size === 0) progress.step = waitingForDocuments;
    }
  }

  /** Reads the documents of a batch over separate connections, which are closed before the batch ends. */
  async #read(batch: QueuedBatch<BatchData>, lock: BatchLock): Promise<BatchEnd> {
    const { client, context } = this.#options;
    const limit = await this.#connection.hget(this.#worker.toKey("meta"), "concurrency");
    if (limit === null) throw new RefusedError("the queue has lost its limit");
    const { data, exchange, documents } = await this.#find(batch.data);
    const { concurrency, slots, max_rps: most } = data;
    // The limit of the run, times the share that this batch has of the run's requests in flight.
    this.#active.set(batch, most === null ? Number.POSITIVE_INFINITY : (most * slots) / concurrency);
    const inFlight = Math.min(context.inFlight ?? concurrency, concurrency);
    const connections = Math.max(1, Math.floor((inFlight * slots) / concurrency));
    const end = { submitted: [] as string[], large: [] as string[] };
    const reading = new Map<string, RunProgress>();
    const timer = setInterval(() => batch.updateProgress(this.#report(reading)).catch(() => {}), 1_000);
    const lane = client.openLane({ connections, signal: lock.signal, beforeSending: lock.requireHeld });
    const prefetch = new Prefetch(connections * pagesPerSlot);
    try {
      await forEachOf(documents, connections * documentsPerSlot, async (document) => {
        const progress = emptyRunProgress();
        reading.set(document.name, progress);
        const options = { lane, prefetch, progress, mostPages: data.most_pages ?? undefined };
        const taken = await this.#readDocument(document, exchange, options);
        reading.delete(document.name);
        if (taken !== "over") end[taken].push(document.name);
      });
    } catch (error) {
      if (client.signal.aborted) this.#failed.abort(client.signal.reason);
      else if (!lock.signal.aborted) this.#failed.abort(error);
      throw error;
    } finally {
      clearInterval(timer);
      await lane.close();
    }
    return end;
  }

  /** Reads one document and submits it. Rejects only with errors that end a worker: a service that cannot be reached, a full disk. */
  async #readDocument(document: DocumentToRead, exchange: Exchange, options: ReadingOptions): Promise<Taken> {
    let attempt: Attempt | undefined;
    try {
      attempt = await beginAttempt(exchange, document.name);
      if (attempt) return await this.#readAndSubmit(document, attempt, options);
    } catch (error) {
      if (error instanceof TooLargeError) return "large";
      options.lane.signal.throwIfAborted();
      const isOver = (await exchange.read(planFile)) === undefined; // the run removed its exchange
      const isGone = attempt && !(await isThere(attempt.folder)); // it did, and then started over
      if (!isOver && !isGone) throw error;
    } finally {
      await attempt?.drop();
    }
    this.#counts.late++;
    return "over";
  }

  async #readAndSubmit({ ref, name }: DocumentToRead, attempt: Attempt, options: ReadingOptions): Promise<Taken> {
    const { job, formats, context } = this.#options;
    const { lane, prefetch, progress, mostPages } = options;
    const segments = { job, formats, segments: attempt.folder, begun: new Set<string>(), retryFailed: false };
    const document = await dumpDocument(lane, ref, name, { ...segments, prefetch, progress, mostPages });
    const { row, drift, childLists, proof, edited } = document;
    const isWhole = row.status === "complete";
    const files = isWhole ? document.files.map(factsOf) : [];
    const submitted: SubmittedResult = {
      worker: context.name,
      token: attempt.token,
      stored: { state: { row, drift, childLists, proof, edited }, segments: files },
      pages: progress.pagesDone,
      requests: this.#takeRequests(),
    };
    const isFirst = (await attempt.submit(files, JSON.stringify(submitted))) === "first";
    if (!isFirst) this.#counts.late++;
    else if (!isWhole) this.#counts.failed++;
    else {
      context.progress.documentsDone++;
      context.progress.chunks += row.chunk_count;
      context.progress.child_chunks += row.child_chunk_count;
    }
    return "submitted";
  }

  /** The requests since the last call. */
  #takeRequests(): RequestSum {
    const since = addRequests(this.#options.context.progress.requests, this.#reported, -1);
    this.#reported = addRequests(this.#reported, since);
    return since;
  }

  #report(reading: ReadonlyMap<string, RunProgress>): ProgressReport {
    const { name: worker, progress } = this.#options.context;
    const { sent, answered } = progress.requests;
    const documents = [...reading].map(([name, { chunks, child_chunks, pagesExpected, pagesDone }]) => {
      return [name, { chunks, child_chunks, pages_expected: pagesExpected, pages: pagesDone }];
    });
    const unreported = answered - this.#reported.answered;
    return { worker, sent, unreported, documents: Object.fromEntries(documents) };
  }

  /** Checks that this worker may read a batch, and finds its documents in the job. */
  async #find(queued: unknown) {
    const { job, client, exchangeOf, context } = this.#options;
    const data = valueIf(batchSchema, queued);
    if (!data) throw new RefusedError("these are not documents of a run");
    const { run_id: runId } = data.run;
    const openExchange = async () => {
      const exchange = await exchangeOf(runId);
      return { exchange, plan: await exchange.read(planFile) };
    };
    const { exchange, plan } = await openExchange().catch((error: unknown) => {
      client.signal.throwIfAborted();
      throw new RefusedError(`this worker cannot read its output: ${problemText(error)}`);
    });
    const reason = reasonToRefuse(data.run, plan, job);
    if (reason !== undefined) throw new RefusedError(reason);
    const documents = data.documents.map(({ name, dataset_id, document_id }): DocumentToRead => {
      const ref = this.#documentIn(dataset_id, document_id);
      if (!ref) throw new RefusedError(`run ${runId} has a document that is not one of the job`);
      return { name, ref };
    });
    if (this.#run !== runId) context.log("info", `reading documents of run ${runId}`);
    this.#run = runId;
    return { data, exchange, documents };
  }

  #refusalOf({ message }: RefusedError): Error {
    const { log, name } = this.#options.context;
    if (!this.#refusals.has(message)) log("warn", `documents were returned: ${message}`);
    this.#refusals.add(message);
    if (!this.#worker.isPaused()) this.#rest().catch((error: unknown) => this.#failed.abort(error));
    return new this.#broker.libraries.bullmq.UnrecoverableError(`${refusal}${name}: ${message}`);
  }

  /** Takes no batches for a while. */
  async #rest(): Promise<void> {
    const { signal } = this.#options.client;
    await this.#worker.pause(true);
    await delay(restTime, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await this.#worker.resume();
  }
}

interface ReadingOptions {
  readonly lane: Lane;
  readonly prefetch: Prefetch;
  readonly progress: RunProgress;
  readonly mostPages: number | undefined;
}

/**
 * The outcome of a document. submitted: the run has a result. large: it has more pages than this batch allows. over: the run ended
 * or started over.
 */
type Taken = "submitted" | "large" | "over";

/** The facts of a segment. A document that was just read has a separate file for each segment. */
function factsOf(segment: SegmentFile): SegmentFacts {
  if (segment.start !== undefined) throw new Error(`${segment.path} holds the rows of several documents`);
  const { path, bytes, sha256 } = segment;
  return { file: basename(path), bytes, sha256 };
}

/**
 * Why a worker refuses the batches of a run; undefined if it accepts them. `found`: the text of `plan.json` in the shared output;
 * undefined if the worker does not find it.
 */
export function reasonToRefuse(run: RunPlan, found: string | undefined, job: Job): string | undefined {
  if (run.version !== tool.version) return `the run is of kbdump ${run.version}, this worker is ${tool.version}`;
  if (run.plan !== planHash(job, run.list ?? undefined))
    return "this worker's job file does not read the same data as the run's";
  if (found === undefined)
    return `this worker cannot find run ${run.run_id} in its output; it must use the same folder or bucket as the run`;
  return found === JSON.stringify(run) ? undefined : `run ${run.run_id} is not the run of its exchange`;
}

/** Returns a function that finds a document of the job, with its dataset's filter; undefined if the job does not include it. */
export function documentsOf({ datasets }: Pick<Job, "datasets">) {
  const asked = new Map(
    (datasets === "all" ? [] : datasets).map(({ id, documents, status, keyword }) => {
      return [id, { ids: documents === "all" ? undefined : new Set(documents), filter: { status, keyword } }];
    }),
  );
  return (datasetId: string, documentId: string): DocumentRef | undefined => {
    if (datasets === "all") return { datasetId, documentId, status: [], keyword: undefined };
    const { ids, filter } = asked.get(datasetId) ?? {};
    return filter && ids?.has(documentId) !== false ? { datasetId, documentId, ...filter } : undefined;
  };
}
