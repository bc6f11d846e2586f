import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { problemText } from "../file-error.js";
import { forEachOf } from "../files/files.js";
import type { Log } from "../log.js";
import { valueIf } from "../schema.js";
import { countOf } from "../words.js";
import { acceptDocument, addRequests, type ExchangePlan, planFile, triedSchema } from "./accept-document.js";
import type { Broker } from "./broker.js";
import { atMost, type DocumentQueue, inTime, openDocumentQueue } from "./document-queue.js";
import type { OpenDocuments, SupervisionOptions } from "./open-documents.js";
import type { WorkersProgress } from "./workers-progress.js";

/** Results that are taken over at once. */
const atOnce = 4;
/** Milliseconds between two turns where no hint comes, and between two looks at the whole exchange at the least. */
const longestWait = 500;
const leastLook = 2_000;
/** A look takes no more than this share of the time. */
const lookShare = 1 / 20;

/** Watches over the documents that workers read, until they have read them all or no worker is left. */
export class Supervision {
  readonly #open: OpenDocuments;
  readonly #workersProgress: WorkersProgress;
  readonly #plan: ExchangePlan;
  readonly #options: SupervisionOptions;
  readonly #queue: DocumentQueue;
  readonly #broker: BrokerWatch;
  readonly #names: WorkerNames;
  readonly #heartbeats: Heartbeats;
  /** Documents that a hint says are read. */
  readonly #hinted = new Set<string>();
  readonly #lookedAt = new Set<string>();
  readonly #triedBy = new Map<string, string>();
  readonly #refusals = new Set<string>();
  #wake = () => {};
  #nextLook = 0;

  constructor(open: OpenDocuments, workersProgress: WorkersProgress, plan: ExchangePlan, options: SupervisionOptions) {
    this.#open = open;
    this.#workersProgress = workersProgress;
    this.#plan = plan;
    this.#options = options;
    this.#broker = new BrokerWatch(options.broker, options.log, options.signal);
    this.#heartbeats = new Heartbeats(patienceOf(options.job), performance.now());
    this.#names = new WorkerNames((text) => options.log("info", text), howToStart(options.broker.shown));
    this.#queue = openDocumentQueue(options.broker, options.job, plan.queue_id, {
      onEnded: (name, hasResult) => {
        if (hasResult) this.#open.announced(name, performance.now());
        this.#hinted.add(name);
        this.#wake();
      },
      onRefused: (name, reason) => this.#refused(name, reason),
      onProgress: (name, reported) => {
        if (this.#open.get(name) && this.#workersProgress.reported(name, reported))
          this.#heartbeats.beat(performance.now());
      },
    });
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    await this.#broker.ask(() => this.#queue.clear());
    for (;;) {
      signal.throwIfAborted();
      await this.#acceptHinted();
      if (performance.now() >= this.#nextLook) await this.#look();
      if (this.#open.size === 0 || this.#isAlone()) return;
      await this.#queueNext();
      await this.#waitForHint();
    }
  }

  /** Takes back what no worker has begun. */
  async close(): Promise<void> {
    await atMost(this.#queue.remove(this.#open.queued));
    await this.#queue.close();
    this.#names.reportAll();
  }

  /** Waits for a hint, or a little while. */
  async #waitForHint(): Promise<void> {
    if (this.#hinted.size > 0) return;
    const { signal } = this.#options;
    const hint = new AbortController();
    this.#wake = () => hint.abort();
    await delay(longestWait, undefined, { signal: AbortSignal.any([signal, hint.signal]) }).catch(() => {});
    this.#wake = () => {};
  }

  async #queueNext(): Promise<void> {
    const next = this.#open.takeNext();
    if (next.length === 0) return;
    const { run_id, queue_id, plan, version } = this.#plan;
    const jobs = next.map(({ ref: { datasetId, documentId }, name }) => ({
      ...{ run_id, queue_id, plan, version, dataset_id: datasetId, document_id: documentId, name },
      ...(this.#triedBy.has(name) ? { tried_by: this.#triedBy.get(name) } : {}),
    }));
    const isQueued = await this.#broker.ask(() => this.#queue.add(jobs));
    if (!isQueued) for (const { name } of next) this.#open.lost(name);
  }

  async #acceptHinted(): Promise<void> {
    const names = [...this.#hinted];
    this.#hinted.clear();
    await this.#accept(names);
  }

  async #accept(names: readonly string[]): Promise<void> {
    const { workspace, formats, progress, log, exchange } = this.#options;
    const options = { exchange, segments: workspace.segments, formats: formats.map(({ format }) => format) };
    await forEachOf(names, atOnce, async (name) => {
      const document = this.#open.get(name);
      if (!document) return;
      const submitted = await acceptDocument(document, options);
      if (submitted === undefined) {
        this.#nextLook = Math.min(this.#nextLook, performance.now() + longestWait); // the attempt failed
        return;
      }
      if (submitted === "damaged") {
        log("warn", `the result of document ${document.ref.documentId} is damaged: it is read again`);
        await exchange.forget(name);
        this.#tryAgain(name);
        return;
      }
      this.#open.close(name);
      this.#workersProgress.accepted(name, submitted);
      addRequests(submitted.requests, progress.requests);
      this.#names.read(submitted.worker);
      this.#heartbeats.beat(performance.now());
    });
  }

  /** Looks at everything that the exchange and the queue hold: hints may have been lost. */
  async #look(): Promise<void> {
    const { exchange, announce } = this.#options;
    const begun = performance.now();
    if ((await exchange.read(planFile)) === undefined) await announce(); // one that was fenced removed everything
    await this.#accept((await exchange.results()).filter((name) => this.#open.get(name)));
    await this.#lookAtTried();
    const took = performance.now() - begun; // a broker that does not answer takes long, and must not put off the next look
    await this.#broker.ask(async () => {
      this.#open.missing(await this.#queue.findMissing(this.#open.queued), performance.now());
      this.#names.see(await this.#queue.workers());
    });
    this.#nextLook = performance.now() + Math.max(leastLook, took / lookShare);
  }

  async #lookAtTried(): Promise<void> {
    const { exchange, progress, log } = this.#options;
    for (const tried of await exchange.tried()) {
      if (this.#lookedAt.has(tried.token)) continue;
      this.#lookedAt.add(tried.token);
      const reason = valueIf(v.pipe(v.string(), v.parseJson(), triedSchema), await exchange.reason(tried));
      const document = this.#open.get(tried.name);
      if (!reason || !document) continue;
      addRequests(reason.requests, progress.requests);
      this.#triedBy.set(tried.name, reason.worker);
      const what = `document ${document.ref.documentId}: worker ${reason.worker} found it ${reason.status}: ${reason.error}`;
      const next = this.#tryAgain(tried.name) ? "another attempt follows" : "this run reads it itself later";
      log("info", `${what}; ${next}`);
      this.#heartbeats.beat(performance.now());
    }
  }

  #tryAgain(name: string): boolean {
    this.#workersProgress.forget(name);
    return this.#open.tried(name);
  }

  #refused(name: string, reason: string): void {
    if (!this.#open.get(name)) return;
    this.#workersProgress.forget(name);
    this.#open.lost(name);
    if (!this.#refusals.has(reason)) this.#options.log("warn", `a worker gave a document back: ${reason}`);
    this.#refusals.add(reason);
  }

  /** Whether there was no heartbeat for so long that this process continues by itself. */
  #isAlone(): boolean {
    const { job, log, broker } = this.#options;
    const seconds = `${patienceOf(job) / 1_000} s`;
    const left = countOf(this.#open.size, "document");
    const state = this.#heartbeats.look(performance.now());
    if (state === "over") log("warn", `no worker gave a sign of life for ${seconds}: this run reads ${left} itself`);
    if (state === "silent")
      log(
        "warn",
        `no worker gives a sign of life: ${howToStart(broker.shown)}; after ${seconds} without one this run reads ${left} itself`,
      );
    return state === "over";
  }
}

/** Milliseconds after which a broker counts as gone: the library waits for good where there never was a connection. */
const longestAnswer = 6_000;

/** Errors that say no more than that there is no answer. */
const silence = /^(no answer|Command timed out|Stream isn't writeable|Connection is closed)/;

/** Asks the broker, and reports once when it is gone and when it is back. */
export class BrokerWatch {
  readonly #broker: Pick<Broker, "shown">;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  #isGone = false;

  /** `signal` ends every wait. */
  constructor(broker: Pick<Broker, "shown">, log: Log, signal: AbortSignal) {
    this.#broker = broker;
    this.#log = log;
    this.#signal = signal;
  }

  /** Whether the broker did what it was asked for. It is asked again at the next turn, so nothing is thrown. */
  async ask(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await inTime(work(), longestAnswer, this.#signal);
      if (this.#isGone) this.#log("info", `the broker ${this.#broker.shown} is back: documents are handed out again`);
      this.#isGone = false;
    } catch (error) {
      if (this.#signal.aborted) return false;
      if (!this.#isGone) this.#log("warn", this.#problemOf(error));
      this.#isGone = true;
    }
    return !this.#isGone;
  }

  #problemOf(error: unknown): string {
    const text = problemText(error);
    const reason = silence.test(text) ? "does not answer" : `refuses a command (${text})`;
    return `the broker ${this.#broker.shown} ${reason}: workers finish the documents that they have, and get no more until it is back`;
  }
}

/** Milliseconds for which workers are waited for, also where an outage of the service ends a run at once. */
const leastPatience = 10_000;

/** Milliseconds without a heartbeat of any worker after which a run goes on by itself. */
function patienceOf({ service }: { readonly service: { readonly outage: number } }): number {
  return Math.max(leastPatience, service.outage * 1_000);
}

/** Milliseconds without a heartbeat after which the user hears of it. */
const longestSilence = 20_000;

/** The heartbeats of all workers together. Pure: time is an argument. */
export class Heartbeats {
  readonly #patience: number;
  #last: number;
  #isSilenceReported = false;

  /** `patience`: milliseconds after which the wait for workers ends. */
  constructor(patience: number, now: number) {
    this.#patience = patience;
    this.#last = now;
  }

  /** A worker has read something. */
  beat(now: number): void {
    this.#last = now;
    this.#isSilenceReported = false;
  }

  /** over: the wait for workers has ended · silent: the user is to hear of it, once · heard: all is well, or was reported. */
  look(now: number): "heard" | "silent" | "over" {
    const silent = now - this.#last;
    if (silent >= this.#patience) return "over";
    if (silent < longestSilence || this.#isSilenceReported) return "heard";
    this.#isSilenceReported = true;
    return "silent";
  }
}

/** The way to start a worker for this run, as messages name it. */
function howToStart(broker: string): string {
  return `start one with kbdump worker ${broker} and the job file of this run`;
}

/** Says which workers come and go, how to start one where there is none, and how much each has read. */
export class WorkerNames {
  readonly #say: (text: string) => void;
  readonly #howToStart: string;
  readonly #read = new Map<string, number>();
  #present: ReadonlySet<string> | undefined;

  constructor(say: (text: string) => void, howToStart: string) {
    this.#say = say;
    this.#howToStart = howToStart;
  }

  /** The workers that are connected now. */
  see(names: readonly string[]): void {
    const before = this.#present ?? new Set();
    const present = new Set(names);
    for (const name of present) if (!before.has(name)) this.#say(`worker ${name} joined`);
    for (const name of before) if (!present.has(name)) this.#say(`worker ${name} left`);
    const isNew = this.#present === undefined || before.size > 0;
    if (present.size === 0 && isNew) this.#say(`no worker is connected: ${this.#howToStart}`);
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
