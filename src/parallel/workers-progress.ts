import type * as v from "valibot";
import { type Job, serviceName } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Log } from "../log.js";
import { count, object, text, valueIf } from "../schema.js";
import type { Handed } from "./accept-document.js";
import { type OpenBounds, openSharedBounds } from "./bounds/open-shared-bounds.js";
import type { Broker } from "./broker.js";

const readEntries = {
  chunks: count,
  child_chunks: count,
  /** Pages and child lists that it takes, as far as that is known, and those that are read. */
  pages_expected: count,
  pages: count,
} as const;
const readSchema = object(readEntries);

/** So much of a document is read. */
type DocumentRead = v.InferOutput<typeof readSchema>;

/** The progress of one document, as its worker tells of it about once a second. */
const progressSchema = object({
  ...readEntries,
  worker: text,
  /** Requests that the worker has sent, for whatever document: one that hangs tells the same again and again. */
  sent: count,
  /** Those that were answered and that no result has told of yet. */
  untold: count,
});

export type ToldProgress = v.InferOutput<typeof progressSchema>;

const nothing: DocumentRead = { chunks: 0, child_chunks: 0, pages_expected: 0, pages: 0 };

/** Counts what workers have read in the tally of the run, so that its progress is that of all of them. */
export class WorkersProgress {
  readonly #progress: RunProgress;
  readonly #known = new Map<string, DocumentRead>();
  readonly #adopted = new Set<string>();
  /** The requests that the worker of a document had sent when it told of it last. */
  readonly #sent = new Map<string, number>();
  /** Requests of each worker that no result has told of yet. */
  readonly #untold = new Map<string, number>();

  constructor(progress: RunProgress) {
    this.#progress = progress;
  }

  /** A worker tells how far a document is. False: the text is none of a worker, or it did nothing since it told of this document last. */
  told(name: string, received: unknown): boolean {
    const told = valueIf(progressSchema, received);
    if (!told) return false;
    const { worker, sent, untold, ...read } = told;
    this.#set(name, read);
    this.#setUntold(worker, untold);
    const isSame = this.#sent.get(name) === sent;
    this.#sent.set(name, sent);
    return !isSame;
  }

  /** A document starts over with another worker. */
  forget(name: string): void {
    if (!this.#known.has(name)) return;
    this.#set(name, nothing);
    this.#known.delete(name);
    this.#progress.documentsBegun--;
  }

  /** A document is read and taken over. */
  adopted(name: string, { worker, result: { row }, pages }: Handed): void {
    const { chunk_count: chunks, child_chunk_count: child_chunks } = row;
    this.#set(name, { chunks, child_chunks, pages_expected: pages, pages });
    this.#progress.documentsDone++;
    this.#adopted.add(name);
    this.#setUntold(worker, 0);
  }

  /** Takes back all that the run counts once more, as it finds these documents among its parts. The share of what is read stays. */
  takeBack(): void {
    for (const name of [...this.#known.keys()]) if (!this.#adopted.has(name)) this.forget(name);
    for (const { chunks, child_chunks } of this.#known.values()) {
      this.#progress.chunks -= chunks;
      this.#progress.child_chunks -= child_chunks;
    }
    for (const worker of [...this.#untold.keys()]) this.#setUntold(worker, 0);
    this.#progress.documentsDone = 0;
    this.#progress.documentsFound = 0 - this.#adopted.size; // they count as begun here
  }

  #setUntold(worker: string, requests: number): void {
    this.#progress.requestsElsewhere += requests - (this.#untold.get(worker) ?? 0);
    this.#untold.set(worker, requests);
  }

  #set(name: string, read: DocumentRead): void {
    const before = this.#known.get(name);
    if (!before) this.#progress.documentsBegun++;
    const { chunks, child_chunks, pages_expected, pages } = before ?? nothing;
    this.#progress.chunks += read.chunks - chunks;
    this.#progress.child_chunks += read.child_chunks - child_chunks;
    this.#progress.pagesExpected += read.pages_expected - pages_expected;
    this.#progress.pagesDone += read.pages - pages;
    this.#known.set(name, read);
  }
}

interface BoundsSetting {
  readonly log: Log;
  /** Requests in flight of this process at the most; undefined: as many as the service takes. */
  readonly inFlight?: number | undefined;
}

/** Opens the bounds that all processes which read the service of a job share. */
export function openBounds(
  broker: Broker,
  { service }: Pick<Job, "service">,
  { log, inFlight }: BoundsSetting,
): OpenBounds {
  const { concurrency, maxRps } = service;
  return openSharedBounds(broker, {
    service: serviceName(service),
    concurrency,
    maxRps,
    most: inFlight,
    say: (text, level) => log(level, text),
  });
}
