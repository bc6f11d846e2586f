import { setTimeout as delay } from "node:timers/promises";
import type { TextFormat } from "../dump/formats/format.js";
import { forEachOf } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import type { Workspace } from "../store/workspace.js";
import { countOf } from "../words.js";
import { acceptDocument } from "./accept-document.js";
import { type Broker, BrokerWatch } from "./broker.js";
import { type OwnExchange, planFile } from "./exchange.js";
import type { OpenDocuments } from "./open-documents.js";
import { type BatchEnd, type DocumentQueue, lockTime, refusal } from "./queue.js";
import { planText, type RunPlan } from "./run-plan.js";
import type { WorkersProgress } from "./workers-progress.js";

/** Results that are accepted at once. */
const atOnce = 4;
/** Milliseconds between two turns where no hint comes, and between two looks at the whole exchange at the least. */
const longestWait = 500;
const leastLook = 2_000;
/** A look takes no more than this share of the time. */
const lookShare = 1 / 20;
/** Milliseconds for workers to end their batches when every document is read. */
const longestEnd = 2_000;
/** Milliseconds without a heartbeat after which the user hears of it. */
const longestSilence = 20_000;
/** Milliseconds for which workers are waited for, also where an outage of the service ends a run at once. */
const leastPatience = 10_000;

/** The broker of a run with workers, and the queue of its job. */
export interface Workers extends AsyncDisposable {
  readonly broker: Broker;
  readonly queue: DocumentQueue;
}

export interface CoordinatorOptions {
  readonly job: Job;
  readonly workspace: Workspace;
  readonly formats: readonly TextFormat[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly workers: Workers;
  /** The place of this run that its workers share with it. */
  readonly exchange: OwnExchange;
  /** Sends no request for some milliseconds, because the service wants that. */
  readonly pause: (milliseconds: number) => void;
  readonly open: OpenDocuments;
  readonly workersProgress: WorkersProgress;
  readonly run: RunPlan;
}

/** Hands documents out to workers and accepts their results, until all are read or no worker is left. */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #watch: BrokerWatch;
  readonly #names: WorkerNames;
  readonly #howToStart: string;
  /** Documents that may have a result now. */
  readonly #hinted = new Set<string>();
  readonly #refusals = new Set<string>();
  /** The batches that the queue did not have at the last look. */
  #missing: ReadonlySet<string> = new Set();
  /** Whether everything is to be queued again, and from when on it may be. */
  #isLost = false;
  #quietUntil = 0;
  #isTaken = false;
  /** When a worker last read something, and whether the user knows that this is long ago. */
  #heardAt = performance.now();
  #isSilenceReported = false;
  #readAt = Number.POSITIVE_INFINITY;
  #nextLook = 0;
  #wake = () => {};

  constructor(options: CoordinatorOptions) {
    const { workers, log, signal, pause, workersProgress, open } = options;
    this.#options = options;
    this.#watch = new BrokerWatch(workers.broker, log, signal);
    this.#howToStart = `start one with kbdump worker ${workers.broker.shown} and the job file of this run`;
    this.#names = new WorkerNames((text) => log("info", text), this.#howToStart);
    const onProgress = (id: string, progress: unknown) => {
      const isKnown = open.namesIn(id).length > 0;
      if (isKnown && workersProgress.reported(id, progress)) this.#hear();
    };
    workers.queue.listen({ onEnded: (...ended) => this.#ended(...ended), onProgress }, pause);
  }

  /** Resolves when nothing is left for workers, and none of them sends requests. */
  async run(): Promise<void> {
    const { signal, open } = this.#options;
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
    await this.#watch.ask(() => this.#wipe());
    await delay(lockTime, undefined, { signal }).catch(() => signal.throwIfAborted());
    await this.#look();
  }

  async close(): Promise<void> {
    await this.#options.workers.queue.close();
    this.#names.reportAll();
  }

  #ended(id: string, end: BatchEnd, reason: string | undefined): void {
    const { open, log, workersProgress } = this.#options;
    const isRefused = reason?.startsWith(refusal) === true;
    for (const name of open.namesIn(id)) this.#hinted.add(name);
    workersProgress.ended(id);
    if (isRefused && open.namesIn(id).length > 0 && !this.#refusals.has(reason)) {
      this.#refusals.add(reason);
      log("warn", `a worker gave documents back: ${reason.slice(refusal.length)}`);
    }
    open.ended(id, end, performance.now(), !isRefused);
    this.#wake();
  }

  /** Waits for a hint, or a little while. */
  async #waitForHint(): Promise<void> {
    if (this.#hinted.size > 0) return;
    const hint = new AbortController();
    this.#wake = () => hint.abort();
    const signal = AbortSignal.any([this.#options.signal, hint.signal]);
    await delay(longestWait, undefined, { signal }).catch(() => {});
  }

  /** Sets the limit of the round first, so that there is never a batch without one. */
  async #queueNext(): Promise<void> {
    const { open, workers, run, job } = this.#options;
    const { concurrency, maxRps = null } = job.service;
    const round = open.nextRound(performance.now());
    if (!round) return;
    const { atOnce, slots, mostPages, batches } = round;
    const facts = { run, concurrency, max_rps: maxRps, slots, most_pages: mostPages };
    const documentOf = (name: string) => {
      const { datasetId = "", documentId = "" } = open.get(name)?.ref ?? {};
      return { name, dataset_id: datasetId, document_id: documentId };
    };
    const isQueued = await this.#watch.ask(async () => {
      if (await workers.queue.limit(atOnce))
        return workers.queue.add(
          Array.from(batches, ([id, names]) => ({ id, data: { ...facts, documents: names.map(documentOf) } })),
        );
      this.#isTaken = (await workers.queue.state()) === "taken";
      if (!this.#isTaken) throw new Error("it has lost its data");
    });
    if (!isQueued) this.#isLost = true;
  }

  /**
   * The queue has lost its data, or may have: requests for what was in it may be in flight for one lock time more. Then everything is
   * queued again.
   */
  async #startOver(): Promise<void> {
    this.#options.open.returnAll();
    this.#options.workersProgress.ended();
    if (!(await this.#watch.ask(() => this.#wipe()))) return; // the next turn tries again
    this.#isLost = false;
    this.#quietUntil = performance.now() + lockTime;
  }

  /** Empties the queue, unless another run uses it now. */
  async #wipe(): Promise<void> {
    this.#isTaken = !(await this.#options.workers.queue.wipe());
  }

  async #accept(names: readonly string[]): Promise<void> {
    const { workspace, formats, log, exchange, open, workersProgress } = this.#options;
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
      workersProgress.submitted(submitted, status === "complete");
      if (status === "complete") this.#names.read(worker);
      else log("info", `${what}: worker ${worker} found it ${status}: ${error}; this run reads it itself later`);
    });
  }

  /** Looks at everything that the exchange and the queue hold: hints may have been lost. */
  async #look(): Promise<void> {
    const { exchange, run, open, workers } = this.#options;
    const { queue } = workers;
    const begun = performance.now();
    // A coordinator that was fenced may have removed everything.
    if ((await exchange.read(planFile)) !== planText(run)) await exchange.write(planFile, planText(run));
    const names = (await exchange.names("results")).map((file) => file.slice(0, -".json".length));
    await this.#accept(names.filter((name) => open.get(name)));
    const took = performance.now() - begun; // a broker that does not answer takes long, and must not put off the next look
    await this.#watch.ask(async () => {
      const missing = await queue.findMissing(open.queued);
      const state = await queue.state();
      this.#isTaken = state === "taken";
      this.#isLost ||= state === "lost" || missing.some((id) => this.#missing.has(id));
      this.#missing = new Set(missing);
      this.#names.see(await queue.workers());
    });
    this.#nextLook = performance.now() + Math.max(leastLook, took / lookShare);
  }

  /** A worker has read something. */
  #hear(): void {
    this.#heardAt = performance.now();
    this.#isSilenceReported = false;
  }

  /** Whether this process continues by itself: there was no heartbeat for long, or another run uses the queue now. */
  #isAlone(): boolean {
    const { job, log, open } = this.#options;
    const self = `this run reads ${countOf(open.size, "document")} itself`;
    if (this.#isTaken) {
      log("warn", `another run of this job uses the same queue now: ${self}`);
      return true;
    }
    const patience = Math.max(leastPatience, job.service.outage * 1_000);
    const [silent, seconds] = [performance.now() - this.#heardAt, `${patience / 1_000} s`];
    if (silent >= patience) {
      log("warn", `no worker gave a sign of life for ${seconds}: ${self}`);
      return true;
    }
    if (silent >= longestSilence && !this.#isSilenceReported) {
      this.#isSilenceReported = true;
      log("warn", `no worker gives a sign of life: ${this.#howToStart}; after ${seconds} without one ${self}`);
    }
    return false;
  }
}

/** Says which workers are there, how to start one where there is none, and how much each has read. */
export class WorkerNames {
  readonly #say: (text: string) => void;
  readonly #howToStart: string;
  readonly #read = new Map<string, number>();
  #present: string | undefined;

  constructor(say: (text: string) => void, howToStart: string) {
    this.#say = say;
    this.#howToStart = howToStart;
  }

  /** The workers that are connected now, in their order. */
  see(names: readonly string[]): void {
    const present = names.join(", ");
    if (present !== this.#present)
      this.#say(present === "" ? `no worker is connected: ${this.#howToStart}` : `connected workers: ${present}`);
    this.#present = present;
  }

  /** A worker has read a document whole. */
  read(name: string): void {
    this.#read.set(name, (this.#read.get(name) ?? 0) + 1);
  }

  /** Says how much each worker has read. */
  reportAll(): void {
    const each = [...this.#read].sort(([one], [other]) => (one < other ? -1 : 1));
    if (each.length === 0) return;
    this.#say(`workers have read: ${each.map(([name, read]) => `${name} ${countOf(read, "document")}`).join(", ")}`);
  }
}
