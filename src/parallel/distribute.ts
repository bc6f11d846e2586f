import { setTimeout as delay } from "node:timers/promises";
import { type Discovery, documentsOf } from "../crawl/discovery.js";
import { forEachOf } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import type { ReadOptions } from "../segments/read-documents.js";
import { noteDistributed, planHash } from "../segments/resume.js";
import { namesOfBegun } from "../segments/shared-segments.js";
import { runBefore } from "../store/folder/job-folders.js";
import { tool } from "../tool.js";
import { countOf } from "../words.js";
import { acceptDocument } from "./accept-document.js";
import { openBroker, watchBroker } from "./broker.js";
import { type OwnExchange, planFile } from "./exchange.js";
import { DocumentBatches, requestsFor } from "./hand-out-documents.js";
import { type BatchEnd, DocumentQueue, lockTime, type RunPlan, refusal } from "./queue.js";
import { WorkersProgress } from "./workers-progress.js";

/** Opens the broker of a run. Resolves when no worker sends requests for an earlier run any more. */
export async function openWorkers(
  url: string,
  job: Job,
  options: { readonly log: Log; readonly signal: AbortSignal },
): Promise<DocumentQueue> {
  const broker = await openBroker(url);
  const queue = await DocumentQueue.open(broker, job, options).catch((error: unknown) => {
    broker.close();
    options.signal.throwIfAborted();
    throw broker.unusable(error);
  });
  options.log("info", "concurrency and max_rps apply to this run and its workers together, not for other runs");
  return queue;
}

/** The run whose documents are distributed to workers. */
interface DistributeOptions extends Pick<ReadOptions, "job" | "workspace" | "formats" | "progress" | "log"> {
  readonly signal: AbortSignal;
  readonly queue: DocumentQueue;
  /** The files that this run shares with its workers. */
  readonly exchange: OwnExchange;
  /** Sends no requests for this many milliseconds, because the service asked for that. */
  readonly pause: (milliseconds: number) => void;
  /** The hash of the given list of documents; undefined if the run asked the service. */
  readonly list: string | undefined;
}

/**
 * Lets workers read the documents of a run, and accepts their complete results, as if an earlier process had read them. Resolves
 * when workers have nothing left. The caller then reads documents that no worker could read completely, and all remaining ones if no
 * worker sends a heartbeat for `service.outage`, or for 10 s if that is longer. An interrupted run leaves the exchange to the next one,
 * which resumes it.
 */
export async function distribute(discovery: Discovery, options: DistributeOptions): Promise<void> {
  const { job, workspace, progress, log, exchange, list } = options;
  const placed = documentsOf(discovery);
  const begun = await namesOfBegun(workspace.segments); // documents that an earlier process read or began to read
  const left = placed.filter(({ name }) => !begun.has(name));
  const requestsOf = requestsFor(discovery, await runBefore(workspace.runs, workspace.runId, job.name), job);
  const ordered = left.toSorted((one, other) => (requestsOf(other) ?? -1) - (requestsOf(one) ?? -1)); // largest first
  progress.documents = placed.length;
  if (ordered.length > 0) {
    progress.documentsDone = placed.length - left.length;
    progress.documentsFound = progress.documentsDone;
    const run = { run_id: workspace.runId, plan: planHash(job, list), version: tool.version, list: list ?? null };
    await exchange.write(planFile, JSON.stringify(run));
    await noteDistributed(workspace.work);
    log("info", `handing out ${countOf(ordered.length, "document")} to workers`);
    const open = new DocumentBatches(ordered, job.service.concurrency, requestsOf);
    const coordinator = new Coordinator(options, run, open);
    try {
      await coordinator.run();
    } finally {
      await coordinator.close();
    }
    coordinator.progress.takeBack();
  }
  await exchange.remove();
}

/** How many results to accept at once. */
const atOnce = 4;
/** Milliseconds: the longest wait for a worker's report, and the shortest time between two full checks of the exchange. */
const longestWait = 500;
const leastLook = 2_000;
/** The maximum share of its time that the coordinator spends on full checks. */
const lookShare = 1 / 20;
/** Maximum milliseconds to wait for workers to end their batches, once every document is read. */
const longestEnd = 2_000;
/** After this many milliseconds without a heartbeat, the log says how to start a worker. */
const longestSilence = 20_000;
/** Minimum milliseconds to wait for workers, even if an outage of the service ends a run at once. */
const leastPatience = 10_000;

/** Hands out documents to workers and accepts their results, until all are read or no worker is left. */
class Coordinator {
  readonly progress: WorkersProgress;
  readonly #options: DistributeOptions;
  readonly #run: RunPlan;
  readonly #open: DocumentBatches;
  /** Asks the broker to do some work; returns whether it did. */
  readonly #ask: ReturnType<typeof watchBroker>;
  readonly #howToStart: string;
  /** The connected workers at the last check. */
  #present: string | undefined;
  /** Documents that may have a result now: a worker reported that it ended their batch. */
  readonly #hinted = new Set<string>();
  readonly #refusals = new Set<string>();
  /** The batches that were missing from the queue at the last check. */
  #missing: ReadonlySet<string> = new Set();
  /** Whether the queue lost its data, so that everything must be queued again; and the earliest time for that. */
  #isLost = false;
  #quietUntil = 0;
  #isTaken = false;
  /** When a worker last read something, and whether a long silence was logged. */
  #heardAt = performance.now();
  #isSilenceReported = false;
  #readAt = Number.POSITIVE_INFINITY;
  #nextLook = 0;
  #wake = () => {};

  constructor(options: DistributeOptions, run: RunPlan, open: DocumentBatches) {
    const { queue, log, signal, pause } = options;
    [this.#options, this.#run, this.#open] = [options, run, open];
    this.progress = new WorkersProgress(options.progress, (name) => open.get(name) !== undefined);
    this.#ask = watchBroker(queue.broker, log, signal);
    this.#howToStart = `start one with kbdump worker ${queue.broker.shown} and the job file of this run`;
    const onProgress = (id: string, report: unknown) => {
      const isKnown = open.namesIn(id).length > 0;
      if (isKnown && this.progress.reported(id, report)) this.#hear();
    };
    queue.listen({ onEnded: (...ended) => this.#ended(...ended), onProgress }, pause);
  }

  /** Resolves when workers have nothing left to do and send no more requests. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const open = this.#open;
    for (;;) {
      signal.throwIfAborted();
      await this.#accept([...this.#hinted]);
      if (performance.now() >= this.#nextLook) await this.#look();
      if (open.size === 0) this.#readAt = Math.min(this.#readAt, performance.now());
      if (open.size === 0 && open.queued.length === 0) return;
      if (performance.now() - this.#readAt > longestEnd || this.#isAlone()) break;
      if (this.#isLost) await this.#startOver();
      else if (this.#hinted.size === 0 && performance.now() >= this.#quietUntil) await this.#queueNext();
      await this.#waitForHint();
    }
    await this.#ask(() => this.#wipe());
    await delay(lockTime, undefined, { signal }).catch(() => signal.throwIfAborted());
    await this.#look();
  }

  async close(): Promise<void> {
    const { queue, log } = this.#options;
    await queue.close();
    const { readBy } = this.progress;
    const each = [...readBy.keys()].sort().map((name) => `${name} ${countOf(readBy.get(name) ?? 0, "document")}`);
    if (each.length > 0) log("info", `workers have read: ${each.join(", ")}`);
  }

  #ended(id: string, end: BatchEnd, reason: string | undefined): void {
    const open = this.#open;
    const names = open.namesIn(id);
    const isRefused = reason?.startsWith(refusal) === true;
    for (const name of names) this.#hinted.add(name);
    this.progress.ended(id);
    if (isRefused && names.length > 0 && !this.#refusals.has(reason)) {
      this.#refusals.add(reason);
      this.#options.log("warn", `a worker returned documents: ${reason.slice(refusal.length)}`);
    }
    open.ended(id, end, performance.now(), !isRefused);
    this.#wake();
  }

  /** Waits until a worker reports that it ended a batch, but at most `longestWait`. */
  async #waitForHint(): Promise<void> {
    if (this.#hinted.size > 0) return;
    const hint = new AbortController();
    this.#wake = () => hint.abort();
    const signal = AbortSignal.any([this.#options.signal, hint.signal]);
    await delay(longestWait, undefined, { signal }).catch(() => {});
  }

  /** Queues the batches of the next round. Sets its limit first, so that no batch is ever queued without a limit. */
  async #queueNext(): Promise<void> {
    const { queue, job } = this.#options;
    const { concurrency, maxRps = null } = job.service;
    const round = this.#open.nextRound(performance.now());
    if (!round) return;
    const { atOnce, slots, mostPages, batches } = round;
    const facts = { run: this.#run, concurrency, max_rps: maxRps, slots, most_pages: mostPages };
    const documentOf = (name: string) => {
      const { datasetId = "", documentId = "" } = this.#open.get(name)?.ref ?? {};
      return { name, dataset_id: datasetId, document_id: documentId };
    };
    const dataOf = (names: readonly string[]) => ({ ...facts, documents: names.map(documentOf) });
    const isQueued = await this.#ask(async () => {
      if (await queue.limit(atOnce))
        return queue.add(Array.from(batches, ([id, names]) => ({ id, data: dataOf(names) })));
      this.#isTaken = (await queue.state()) === "taken";
      if (!this.#isTaken) throw new Error("it has lost its data");
    });
    if (!isQueued) this.#isLost = true;
  }

  /**
   * Empties a queue that lost its data, or may have, and hands out all documents again after one lock time: until then, workers may
   * still send requests for the old batches.
   */
  async #startOver(): Promise<void> {
    this.#open.returnAll();
    this.progress.ended();
    if (!(await this.#ask(() => this.#wipe()))) return; // the next round tries again
    this.#isLost = false;
    this.#quietUntil = performance.now() + lockTime;
  }

  /** Empties the queue, unless another run now uses it. */
  async #wipe(): Promise<void> {
    this.#isTaken = !(await this.#options.queue.wipe());
  }

  async #accept(names: readonly string[]): Promise<void> {
    const { workspace, formats, log, exchange } = this.#options;
    const open = this.#open;
    const options = { exchange, segments: workspace.segments, formats: formats.map(({ format }) => format) };
    await forEachOf(names, atOnce, async (name) => {
      this.#hinted.delete(name);
      const document = open.get(name);
      const submitted = document && (await acceptDocument(document, options));
      if (!document || submitted === undefined) return;
      open.close(name);
      this.#hear();
      const what = `document ${document.ref.documentId}`;
      if (submitted === "damaged")
        return log("warn", `the result of ${what} is damaged: this run reads it itself later`);
      const { worker, stored } = submitted;
      const { status, error } = stored.state.row;
      this.progress.submitted(submitted, status === "complete");
      if (status !== "complete")
        log("info", `${what}: worker ${worker} found it ${status}: ${error}; this run reads it itself later`);
    });
  }

  /** Checks everything in the exchange and the queue, because reports of workers may have been lost. */
  async #look(): Promise<void> {
    const { exchange, queue, log } = this.#options;
    const [open, plan] = [this.#open, JSON.stringify(this.#run)];
    const begun = performance.now();
    // A coordinator that this one replaced may have removed the plan.
    if ((await exchange.read(planFile)) !== plan) await exchange.write(planFile, plan);
    const names = (await exchange.names("results")).map((file) => file.slice(0, -".json".length));
    await this.#accept(names.filter((name) => open.get(name)));
    const took = performance.now() - begun; // without the wait for a silent broker below, which must not delay the next check
    await this.#ask(async () => {
      const missing = await queue.findMissing(open.queued);
      const state = await queue.state();
      this.#isTaken = state === "taken";
      this.#isLost ||= state === "lost" || missing.some((id) => this.#missing.has(id));
      this.#missing = new Set(missing);
      const present = (await queue.workers()).join(", ");
      if (present !== this.#present)
        log("info", present === "" ? `no worker is connected: ${this.#howToStart}` : `connected workers: ${present}`);
      this.#present = present;
    });
    this.#nextLook = performance.now() + Math.max(leastLook, took / lookShare);
  }

  /** Records that a worker has read something. */
  #hear(): void {
    this.#heardAt = performance.now();
    this.#isSilenceReported = false;
  }

  /** Whether this process continues without workers: there was no heartbeat for a long time, or another run now uses the queue. */
  #isAlone(): boolean {
    const { job, log } = this.#options;
    const self = `this run reads ${countOf(this.#open.size, "document")} itself`;
    const patience = Math.max(leastPatience, job.service.outage * 1_000);
    const [silent, seconds] = [performance.now() - this.#heardAt, `${patience / 1_000} s`];
    const isSilent = silent >= patience && `no worker sent a heartbeat for ${seconds}`;
    const reason = this.#isTaken ? "another run of this job uses the same queue now" : isSilent;
    if (reason) {
      log("warn", `${reason}: ${self}`);
      return true;
    }
    if (silent >= longestSilence && !this.#isSilenceReported) {
      this.#isSilenceReported = true;
      log("warn", `no worker sends heartbeats: ${this.#howToStart}; after ${seconds} without one ${self}`);
    }
    return false;
  }
}
