import type { DocumentToRead } from "../crawl/discovery.js";
import type { TextFormat } from "../dump/formats/format.js";
import type { Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Log } from "../log.js";
import type { Workspace } from "../store/workspace.js";
import type { Broker } from "./broker.js";
import type { OwnExchange } from "./exchange/exchange.js";

/** Documents that may lie in the queue at once; the others follow as these are read. */
const mostQueued = 2_000;
/** Milliseconds that a network drive may take to show a result: https://man7.org/linux/man-pages/man5/nfs.5.html (acdirmax). */
const longestDelay = 60_000;
/** Attempts of workers at one document, before the coordinator reads it itself. */
const mostTries = 2;

/** Says which documents of a run workers still have to read, and which of them are in the queue. Pure. */
export class OpenDocuments {
  readonly #open = new Map<string, DocumentToRead>();
  readonly #waiting: DocumentToRead[];
  readonly #queued = new Set<string>();
  readonly #tries = new Map<string, number>();
  readonly #announced = new Map<string, number>();
  #missing: ReadonlySet<string> = new Set();

  /** In the order in which they are to be read. */
  constructor(documents: readonly DocumentToRead[]) {
    this.#waiting = [...documents].reverse();
    for (const document of documents) this.#open.set(document.name, document);
  }

  get size(): number {
    return this.#open.size;
  }

  get(name: string): DocumentToRead | undefined {
    return this.#open.get(name);
  }

  /** The names of those that should be in the queue. */
  get queued(): readonly string[] {
    return [...this.#queued];
  }

  /** Takes as many documents as the queue has room for; they count as queued from now on. */
  takeNext(): readonly DocumentToRead[] {
    const next: DocumentToRead[] = [];
    while (this.#queued.size < mostQueued) {
      const document = this.#waiting.pop();
      if (!document) break;
      if (!this.#open.has(document.name)) continue;
      this.#queued.add(document.name);
      next.push(document);
    }
    return next;
  }

  /** A worker says that the result of a document is there; it may come into sight a while later. */
  announced(name: string, now: number): void {
    this.#announced.set(name, now);
  }

  /** The queue does not have these: those that it did not have at the last look either, and that no worker says are read, are lost. */
  missing(names: readonly string[], now: number): void {
    for (const name of names) {
      const isOnItsWay = now - (this.#announced.get(name) ?? Number.NEGATIVE_INFINITY) < longestDelay;
      if (this.#missing.has(name) && !isOnItsWay) this.lost(name);
    }
    this.#missing = new Set(names);
  }

  /** Says that the queue does not have a document any more; it is queued again. */
  lost(name: string): void {
    const document = this.#open.get(name);
    if (document && this.#queued.delete(name)) this.#waiting.push(document);
  }

  /** Counts a failed attempt. False: no worker is to try again, and the document is not open any more. */
  tried(name: string): boolean {
    const tries = (this.#tries.get(name) ?? 0) + 1;
    this.#tries.set(name, tries);
    if (tries < mostTries) {
      this.lost(name);
      return true;
    }
    this.close(name);
    return false;
  }

  /** The document is read, or is left to the coordinator. */
  close(name: string): void {
    this.#open.delete(name);
    this.#queued.delete(name);
  }
}

/** The run whose documents workers read, and the places that it shares with them. */
export interface DistributeOptions {
  readonly job: Job;
  readonly workspace: Workspace;
  readonly formats: readonly TextFormat[];
  readonly progress: RunProgress;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly broker: Broker;
  /** The place of this run that its workers share with it. */
  readonly exchange: OwnExchange;
  /** The hash of the list of documents that the run was given; undefined where it asked the service. */
  readonly list: string | undefined;
}

export interface SupervisionOptions extends DistributeOptions {
  /** Writes the list of documents and the plan into the exchange. */
  readonly announce: () => Promise<void>;
}
