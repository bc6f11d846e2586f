import { randomUUID } from "node:crypto";
import type { DocumentToRead } from "../crawl/discovery.js";
import type { BatchEnd } from "./queue.js";

/** Batches that may be in the queue at once; the others follow as these are read. */
const mostQueued = 200;
/** Small documents of a batch. It shrinks towards the end, so that all workers end at about the same time. */
const mostInBatch = 20;
/** Milliseconds that a network drive may take to show a result: https://man7.org/linux/man-pages/man5/nfs.5.html (acdirmax). */
const longestDelay = 60_000;
/** Times that a document is handed out to workers that do not end it, before the coordinator reads it itself. */
const mostTries = 3;
/** A document is large if it needs more requests than this for each slot of the job. Read alone, it then keeps all of them busy. */
const largeFactor = 10;

type Size = "large" | "small";

/**
 * How the concurrent requests of a job are shared: `atOnce` batches may be under way, each with `slots` requests. Large documents
 * are read first, one at a time with all slots; then small ones, several at once.
 */
interface Round {
  readonly size: Size;
  readonly atOnce: number;
  readonly slots: number;
  readonly mostPages: number | null;
}

interface NextBatches extends Round {
  readonly batches: readonly { readonly id: string; readonly names: readonly string[] }[];
}

/** A batch that was handed out. */
interface Batch {
  readonly size: Size;
  /** The documents that have no result yet. */
  readonly names: Set<string>;
  /** When its worker said that all of these have a result. */
  endedAt?: number;
}

/** Which documents workers still have to read, and which of them are in the queue. Pure but for the ids of batches. */
export class OpenDocuments {
  readonly #concurrency: number;
  readonly #open = new Map<string, DocumentToRead>();
  /** Names of the documents that are in no batch. The next one is the last. */
  #waiting: Record<Size, string[]> = { large: [], small: [] };
  readonly #batches = new Map<string, Batch>();
  readonly #tries = new Map<string, number>();
  #round: Round = { size: "small", atOnce: 1, slots: 1, mostPages: null };

  /** In the order in which they are to be read. `requestsOf`: the requests that a document needs, if known. */
  constructor(
    documents: readonly DocumentToRead[],
    concurrency: number,
    requestsOf: (document: DocumentToRead) => number | undefined,
  ) {
    this.#concurrency = concurrency;
    for (const document of documents) this.#open.set(document.name, document);
    for (const document of documents.toReversed()) {
      const isLarge = (requestsOf(document) ?? 0) > largeFactor * concurrency;
      this.#waiting[isLarge ? "large" : "small"].push(document.name);
    }
  }

  get size(): number {
    return this.#open.size;
  }

  get(name: string): DocumentToRead | undefined {
    return this.#open.get(name);
  }

  /** The ids of the batches that should be in the queue. */
  get queued(): readonly string[] {
    return [...this.#batches].filter(([, { endedAt }]) => endedAt === undefined).map(([id]) => id);
  }

  /** The documents of a batch that have no result yet. */
  namesIn(id: string): readonly string[] {
    return [...(this.#batches.get(id)?.names ?? [])];
  }

  /** Takes as many batches as the queue has room for. A new round begins when all batches of the last one have ended. */
  takeNext(): NextBatches {
    if (this.#batches.size === 0) this.#round = this.#nextRound();
    const { size, atOnce } = this.#round;
    const waiting = this.#waiting[size];
    const batches: { readonly id: string; readonly names: readonly string[] }[] = [];
    while (waiting.length > 0 && this.#batches.size < mostQueued) {
      const most = size === "large" ? 1 : Math.min(mostInBatch, Math.ceil(waiting.length / (2 * atOnce)));
      const names = waiting
        .splice(-most)
        .reverse()
        .filter((name) => this.#open.has(name));
      if (names.length === 0) continue;
      const id = randomUUID();
      this.#batches.set(id, { size, names: new Set(names) });
      batches.push({ id, names });
    }
    return { ...this.#round, batches };
  }

  /**
   * A worker has ended a batch. Results that it submitted may come into sight a while later. `isTry`: the documents without one
   * count as tried.
   */
  ended(id: string, { submitted, large }: BatchEnd, now: number, isTry = true): void {
    const batch = this.#batches.get(id);
    if (!batch) return;
    batch.endedAt = now;
    for (const name of [...batch.names].filter((each) => !submitted.includes(each))) {
      batch.names.delete(name);
      const isLarge = large.includes(name);
      this.#putBack(name, isLarge ? "large" : batch.size, isTry && !isLarge);
    }
    if (batch.names.size === 0) this.#batches.delete(id);
  }

  /** Returns documents whose results did not come into sight. */
  returnLate(now: number): void {
    for (const [id, { endedAt }] of this.#batches)
      if (endedAt !== undefined && now - endedAt > longestDelay) this.ended(id, { submitted: [], large: [] }, now);
  }

  /** The queue has lost its data: everything is to be handed out again. */
  returnAll(): void {
    for (const { size, names } of this.#batches.values()) this.#waiting[size].push(...names);
    this.#batches.clear();
  }

  /** The document is read, or is left to the coordinator. */
  close(name: string): void {
    this.#open.delete(name);
    for (const [id, { names, endedAt }] of this.#batches)
      if (names.delete(name) && names.size === 0 && endedAt !== undefined) this.#batches.delete(id);
  }

  #nextRound(): Round {
    const isOpen = (name: string) => this.#open.has(name);
    this.#waiting = { large: this.#waiting.large.filter(isOpen), small: this.#waiting.small.filter(isOpen) };
    const { large, small } = this.#waiting;
    if (large.length > 0) return { size: "large", atOnce: 1, slots: this.#concurrency, mostPages: null };
    const atOnce = Math.max(1, Math.min(this.#concurrency, small.length));
    const slots = Math.floor(this.#concurrency / atOnce);
    const mostPages = atOnce === 1 ? null : largeFactor * this.#concurrency * slots;
    return { size: "small", atOnce, slots, mostPages };
  }

  /** Puts a document back, unless it was tried too often. */
  #putBack(name: string, size: Size, isTry: boolean): void {
    if (!this.#open.has(name)) return;
    const tries = (this.#tries.get(name) ?? 0) + (isTry ? 1 : 0);
    this.#tries.set(name, tries);
    if (tries < mostTries) this.#waiting[size].push(name);
    else this.#open.delete(name);
  }
}
