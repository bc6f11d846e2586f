import { setTimeout as delay } from "node:timers/promises";
import type { Job as QueuedJob, Worker } from "bullmq";
import { readingDocuments, waitingForDocuments } from "../../job/run-progress.js";

import type { Broker } from "../broker.js";
import { atMost, type DocumentJob, queueName } from "../document-queue.js";
import { RefusedError, type Taken, type Taking, takeDocument } from "./take-document.js";
import type { WorkerContext, WorkerResult } from "./worker-options.js";

/** Milliseconds for which a document is this worker's without a heartbeat, and between looks at those of others. */
const lock = { lockDuration: 8_000, lockRenewTime: 2_500, stalledInterval: 4_000 };
/** Milliseconds that a worker rests after it refused documents, so that others get them. */
const restTime = 5_000;
/** Milliseconds that a document waits after this worker failed to read it. */
const secondTryWait = 1_000;
/** Milliseconds after which the library tries again where the broker was gone in the middle of a command. */
const runRetryDelay = 1_000;
/** Times that a worker leaves a document that it tried to others. */
const mostLeft = 5;

/** Takes documents from a queue, several at once, until it ends. */
export class DocumentWorker {
  readonly #context: WorkerContext;
  readonly #taking: Taking;
  readonly #broker: Broker;
  readonly #worker: Worker<DocumentJob>;
  readonly #counts = { documents: 0, failed: 0, late: 0, chunks: 0, child_chunks: 0 };
  readonly #left = new Map<string, number>();
  readonly #refusals = new Set<string>();
  #run = "";
  readonly #failed: (error: unknown) => void;
  #active = 0;
  #lastWork = performance.now();

  /** `failed` hears of the error that no worker can work on after. */
  constructor(
    broker: Broker,
    taking: Taking,
    context: WorkerContext,
    atOnce: number,
    failed: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#taking = taking;
    this.#broker = broker;
    this.#failed = failed;
    this.#worker = new broker.libraries.bullmq.Worker<DocumentJob>(
      queueName(taking.job),
      (queued, token) => this.#take(queued, token),
      {
        ...{ connection: broker.connect(), name: context.name, concurrency: atOnce, maxStalledCount: 1_000_000 },
        ...{ runRetryDelay, ...lock },
      },
    );
    this.#worker.on("error", () => {}); // it connects again
  }

  /** Documents that it reads at once from now on. */
  set atOnce(documents: number) {
    if (this.#worker.concurrency !== documents) this.#worker.concurrency = documents;
  }

  /** Milliseconds since it had something to do. */
  get idle(): number {
    return this.#active > 0 ? 0 : performance.now() - this.#lastWork;
  }

  get result(): WorkerResult {
    return {
      status: "idle",
      name: this.#context.name,
      ...this.#counts,
      requests: this.#context.progress.requests.sent,
    };
  }

  /** Takes nothing more, and waits a little while for documents to be given back. */
  async close(): Promise<void> {
    await atMost(this.#worker.close());
    await atMost(this.#worker.disconnect());
  }

  async #take(queued: QueuedJob<DocumentJob>, token: string | undefined): Promise<Taken["outcome"]> {
    await this.#leaveToOthers(queued, token);
    const { progress } = this.#context;
    this.#active++;
    progress.step = readingDocuments;
    try {
      const taken = await takeDocument(queued.data, this.#taking, {
        began: (runId) => this.#nameRun(runId),
        read: (read) => {
          queued.updateProgress(read).catch(() => {}); // only the progress of the coordinator lacks it
        },
      });
      this.#count(taken);
      return taken.outcome;
    } catch (error) {
      if (error instanceof RefusedError) throw this.#refusal(error);
      this.#failed(error);
      await atMost(queued.moveToWait(token));
      throw new this.#broker.libraries.bullmq.WaitingError();
    } finally {
      this.#active--;
      this.#lastWork = performance.now();
      if (this.#active === 0) progress.step = waitingForDocuments;
    }
  }

  /** Says for which run it reads from now on. */
  #nameRun(runId: string): void {
    if (this.#run === runId) return;
    this.#run = runId;
    this.#context.log("info", `reading documents of run ${runId}`);
  }

  /** Puts back a document that this worker failed to read; if no other worker takes it, this one tries again in the end. */
  async #leaveToOthers(queued: QueuedJob<DocumentJob>, token: string | undefined): Promise<void> {
    const { id = "" } = queued;
    const left = this.#left.get(id) ?? 0;
    if (queued.data?.tried_by !== this.#context.name || left >= mostLeft) return;
    this.#left.set(id, left + 1);
    await queued.moveToDelayed(Date.now() + secondTryWait, token);
    throw new this.#broker.libraries.bullmq.DelayedError();
  }

  #refusal({ message }: RefusedError): Error {
    if (!this.#refusals.has(message)) this.#context.log("warn", `a document was given back: ${message}`);
    this.#refusals.add(message);
    if (!this.#worker.isPaused()) this.#rest().catch(this.#failed);
    return new this.#broker.libraries.bullmq.UnrecoverableError(`${this.#context.name}: ${message}`);
  }

  /** Takes nothing for a while. */
  async #rest(): Promise<void> {
    const { signal } = this.#taking.client;
    await this.#worker.pause(true);
    await delay(restTime, undefined, { signal }).catch(() => {});
    if (!signal.aborted) this.#worker.resume();
  }

  #count({ outcome, document }: Taken): void {
    const { progress } = this.#context;
    const counts = this.#counts;
    if (outcome === "late" || outcome === "over") counts.late++;
    if (outcome === "failed") counts.failed++;
    if (outcome !== "read" || !document) return;
    const { chunk_count: chunks, child_chunk_count: children } = document.row;
    counts.documents++;
    counts.chunks += chunks;
    counts.child_chunks += children;
    progress.documentsDone++;
    progress.chunks += chunks;
    progress.child_chunks += children;
  }
}
