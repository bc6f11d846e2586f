import type * as v from "valibot";
import { type Job, serviceName } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

import type { Log } from "../log.js";
import { count, object, text, valueIf } from "../schema.js";
import type { SubmittedResult } from "./accept-document.js";
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

/** The progress of one document, as its worker reports it about once a second. */
const progressSchema = object({
  ...readEntries,
  worker: text,
  /** Requests that the worker has sent, for whatever document: one that hangs reports the same again and again. */
  sent: count,
  /** Those that were answered and that no result has reported yet. */
  untold: count,
});

export type ProgressReport = v.InferOutput<typeof progressSchema>;

const nothing: DocumentRead = { chunks: 0, child_chunks: 0, pages_expected: 0, pages: 0 };

/** Counts what workers have read in the tally of the run, so that its progress is that of all of them. */
export class WorkersProgress {
  readonly #progress: RunProgress;
  readonly #known = new Map<string, DocumentRead>();
  readonly #accepted = new Set<string>();
  /** The requests that the worker of a document had sent when it last reported on it. */
  readonly #sent = new Map<string, number>();
  /** Requests of each worker that no result has reported yet. */
  readonly #unreported = new Map<string, number>();

  constructor(progress: RunProgress) {
    this.#progress = progress;
  }

  /** A worker reports how far a document is. False: the text is none of a worker, or it did nothing since it last reported on this document. */
  reported(name: string, received: unknown): boolean {
    const reported = valueIf(progressSchema, received);
    if (!reported) return false;
    const { worker, sent, untold: unreported, ...read } = reported;
    this.#set(name, read);
    this.#setUnreported(worker, unreported);
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

  /** A document is read, and its result accepted. */
  accepted(name: string, { worker, result: { row }, pages }: SubmittedResult): void {
    const { chunk_count: chunks, child_chunk_count: child_chunks } = row;
    this.#set(name, { chunks, child_chunks, pages_expected: pages, pages });
    this.#progress.documentsDone++;
    this.#accepted.add(name);
    this.#setUnreported(worker, 0);
  }

  /** Takes back all that the run counts once more, as it finds these documents among its parts. The share of what is read stays. */
  takeBack(): void {
    for (const name of [...this.#known.keys()]) if (!this.#accepted.has(name)) this.forget(name);
    for (const { chunks, child_chunks } of this.#known.values()) {
      this.#progress.chunks -= chunks;
      this.#progress.child_chunks -= child_chunks;
    }
    for (const worker of [...this.#unreported.keys()]) this.#setUnreported(worker, 0);
    this.#progress.documentsDone = 0;
    this.#progress.documentsFound = 0 - this.#accepted.size; // they count as begun here
  }

  #setUnreported(worker: string, requests: number): void {
    this.#progress.requestsElsewhere += requests - (this.#unreported.get(worker) ?? 0);
    this.#unreported.set(worker, requests);
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

interface BoundsOptions {
  readonly log: Log;
  /** Requests in flight of this process at the most; undefined: as many as the service takes. */
  readonly inFlight?: number | undefined;
}

/** Opens the bounds that all processes which read the service of a job share. */
export function openBounds(
  broker: Broker,
  { service }: Pick<Job, "service">,
  { log, inFlight }: BoundsOptions,
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
