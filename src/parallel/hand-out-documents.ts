import { randomUUID } from "node:crypto";
import type { Discovery, DocumentToRead } from "../crawl/discovery.js";
import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";
import { documentKey } from "../rows/row.js";
import type { BatchEnd } from "./queue.js";

/** How many batches a round may have. */
const mostQueued = 1_000;
/** Maximum small documents of a batch. Batches shrink towards the end, so that all workers end at about the same time. */
const mostInBatch = 20;
/** Milliseconds until a network drive shows a result: https://man7.org/linux/man-pages/man5/nfs.5.html (acdirmax). */
const longestDelay = 60_000;
/** A document is handed out this many times at most; if no worker finishes it, the coordinator reads it itself. */
const mostTries = 3;
/** A document is large if it needs more than this many requests per slot. Alone in a round, it then keeps all slots busy. */
const largeFactor = 10;

/**
 * How a job's concurrent requests are shared: up to `atOnce` batches run at once, each with `slots` requests. Large documents
 * are read first, one at a time with all slots; then small ones, several at once.
 */
interface Round {
  readonly atOnce: number;
  readonly slots: number;
  readonly mostPages: number | null;
  /** The names of the documents of each batch, by its id. */
  readonly batches: ReadonlyMap<string, readonly string[]>;
}

interface OpenDocument {
  readonly document: DocumentToRead;
  isLarge: boolean;
  tries: number;
  /** When a worker last reported a result for it, which may become visible later. */
  submittedAt: number;
}

/** The documents that workers must still read, and their batches. Pure, except for the random ids of batches. */
export class DocumentBatches {
  readonly #concurrency: number;
  readonly #open = new Map<string, OpenDocument>();
  /** By id: the documents of each batch of the current round that has not ended. */
  #batches = new Map<string, readonly string[]>();

  /** `documents`: in the order in which to read them. `requestsOf`: the number of requests for a document, if known. */
  constructor(
    documents: readonly DocumentToRead[],
    concurrency: number,
    requestsOf: (document: DocumentToRead) => number | undefined,
  ) {
    this.#concurrency = concurrency;
    for (const document of documents) {
      const isLarge = (requestsOf(document) ?? 0) > largeFactor * concurrency;
      this.#open.set(document.name, { document, isLarge, tries: 0, submittedAt: Number.NEGATIVE_INFINITY });
    }
  }

  get size(): number {
    return this.#open.size;
  }

  get(name: string): DocumentToRead | undefined {
    return this.#open.get(name)?.document;
  }

  /** The ids of the batches that should be in the queue. */
  get queued(): readonly string[] {
    return [...this.#batches.keys()];
  }

  /** The document names of a batch that has not ended. */
  namesIn(id: string): readonly string[] {
    return this.#batches.get(id) ?? [];
  }

  /**
   * Makes the batches of the next round; undefined if a batch of the last round has not ended, or no document waits. Leaves documents
   * with too many tries to the coordinator. Skips submitted documents until their results are visible.
   */
  nextRound(now: number): Round | undefined {
    if (this.#batches.size > 0) return undefined;
    const all = [...this.#open.values()].filter(({ submittedAt }) => now - submittedAt > longestDelay);
    for (const { tries, document } of all) if (tries >= mostTries) this.#open.delete(document.name);
    const waiting = all.filter(({ tries }) => tries < mostTries);
    const large = waiting.filter(({ isLarge }) => isLarge);
    const names = (large.length > 0 ? large : waiting).map(({ document }) => document.name);
    if (names.length === 0) return undefined;
    const atOnce = large.length > 0 ? 1 : Math.min(this.#concurrency, names.length);
    const slots = Math.floor(this.#concurrency / atOnce);
    const batches = new Map<string, readonly string[]>();
    for (let at = 0; at < names.length && batches.size < mostQueued; ) {
      const most = large.length > 0 ? 1 : Math.min(mostInBatch, Math.ceil((names.length - at) / (2 * atOnce)));
      batches.set(randomUUID(), names.slice(at, at + most));
      at += most;
    }
    this.#batches = batches;
    const mostPages = atOnce === 1 ? null : largeFactor * this.#concurrency * slots;
    return { atOnce, slots, mostPages, batches: new Map(batches) };
  }

  /** Records that a worker ended a batch. `isTry`: counts a try for its documents, except those that turned out to be large. */
  ended(id: string, { submitted, large }: BatchEnd, now: number, isTry = true): void {
    for (const name of this.namesIn(id)) {
      const document = this.#open.get(name);
      if (!document) continue;
      if (submitted.includes(name)) document.submittedAt = now;
      if (large.includes(name)) document.isLarge = true;
      else if (isTry) document.tries++;
    }
    this.#batches.delete(id);
  }

  /** Records that the queue has lost its data, so that everything is handed out again. */
  returnAll(): void {
    this.#batches.clear();
  }

  /** Records that a document is read, or left to the coordinator. */
  close(name: string): void {
    this.#open.delete(name);
  }
}

/** Approximate characters per chunk, to estimate the chunks of a document from its characters. */
const charactersOfChunk = 500;

/**
 * Returns a function for the approximate number of requests for a document: from its characters in the service's list, otherwise from
 * its chunks in the previous run; undefined if neither has it.
 */
export function requestsFor(
  { found }: Pick<Discovery, "found">,
  before: Pick<Manifest, "documents"> | undefined,
  { childChunks }: Pick<Job, "childChunks">,
): (document: Pick<DocumentToRead, "ref">) => number | undefined {
  const chunksOf = new Map<string, number>();
  for (const row of before?.documents ?? []) chunksOf.set(documentKey(row), row.chunk_count);
  for (const row of found?.rows ?? []) {
    const words = Number(row.word_count ?? Number.NaN);
    if (Number.isFinite(words)) chunksOf.set(documentKey(row), words / charactersOfChunk);
  }
  return ({ ref: { datasetId, documentId } }) => {
    const chunks = chunksOf.get(documentKey({ dataset_id: datasetId, document_id: documentId }));
    return chunks && chunks / 100 + (childChunks === "all" ? chunks : 0);
  };
}
