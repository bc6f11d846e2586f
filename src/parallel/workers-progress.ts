import * as v from "valibot";
import type { RunProgress } from "../job/run-progress.js";
import { count, object, text, valueIf } from "../schema.js";
import { addRequests } from "../segments/request-sum.js";
import type { SubmittedResult } from "./accept-document.js";

/** How much of a document has been read. */
const readSchema = object({
  chunks: count,
  child_chunks: count,
  /** Pages and child lists that the document needs, as far as known, and those already read. */
  pages_expected: count,
  pages: count,
});

/** The progress of a batch, which its worker reports about once a second. */
const progressSchema = object({
  worker: text,
  /** Requests that the worker has sent for all documents; a worker that hangs repeats the same number. */
  sent: count,
  /** Answered requests that are not in a result yet. */
  unreported: count,
  /** The documents in progress, by segment name. */
  documents: v.record(v.string(), readSchema),
});
export type ProgressReport = v.InferOutput<typeof progressSchema>;

/** Adds the workers' progress to the progress of the run. */
export class WorkersProgress {
  readonly #progress: RunProgress;
  readonly #isOpen: (name: string) => boolean;
  /** The last report of each batch. */
  readonly #reports = new Map<string, ProgressReport>();
  /** The last request counts of each worker. */
  readonly #workers = new Map<string, Pick<ProgressReport, "sent" | "unreported">>();
  /** How many documents each worker read completely. */
  readonly readBy = new Map<string, number>();
  #accepted = { documents: 0, chunks: 0, child_chunks: 0, pages: 0 };

  /** `isOpen`: whether a document still has no result. */
  constructor(progress: RunProgress, isOpen: (name: string) => boolean) {
    this.#progress = progress;
    this.#isOpen = isOpen;
  }

  /** Takes a worker's report. Returns false if it did nothing since the last one, or the report is invalid. */
  reported(batch: string, received: unknown): boolean {
    const report = valueIf(progressSchema, received);
    if (!report) return false;
    const isSame = this.#workers.get(report.worker)?.sent === report.sent;
    this.#workers.set(report.worker, report);
    this.#reports.set(batch, report);
    this.#show();
    return !isSame;
  }

  /** Forgets the progress of an ended batch; without an id, of all batches. */
  ended(batch?: string): void {
    if (batch === undefined) this.#reports.clear();
    else this.#reports.delete(batch);
    this.#show();
  }

  /** Adds the requests of a result to the run's, and its rows if it was accepted. */
  submitted({ worker, requests, pages, stored }: SubmittedResult, isAccepted: boolean): void {
    const { retriedBy, ...counts } = addRequests(this.#progress.requests, requests);
    Object.assign(this.#progress.requests, counts);
    Object.assign(this.#progress.requests.retriedBy, retriedBy);
    const { sent = 0 } = this.#workers.get(worker) ?? {};
    this.#workers.set(worker, { sent, unreported: 0 });
    if (isAccepted) {
      const { row } = stored.state;
      this.readBy.set(worker, (this.readBy.get(worker) ?? 0) + 1);
      this.#accepted.documents++;
      this.#accepted.chunks += row.chunk_count;
      this.#accepted.child_chunks += row.child_chunk_count;
      this.#accepted.pages += pages;
      this.#progress.documentsDone++;
    }
    this.#show();
  }

  /**
   * Subtracts the rows of accepted documents, because the run counts them again when it finds these documents among its segments.
   * The share of read pages stays.
   */
  takeBack(): void {
    this.#reports.clear();
    this.#workers.clear();
    this.#accepted = { ...this.#accepted, chunks: 0, child_chunks: 0 };
    this.#show();
    this.#progress.documentsDone = 0;
    this.#progress.documentsFound = 0 - this.#accepted.documents; // documentsBegun already counts these documents, so finding them must not count again
  }

  #show(): void {
    const { documents, pages, ...rows } = this.#accepted;
    const shown = { ...rows, documentsBegun: documents, pagesExpected: pages, pagesDone: pages, requestsElsewhere: 0 };
    for (const { unreported } of this.#workers.values()) shown.requestsElsewhere += unreported;
    for (const report of this.#reports.values())
      for (const [name, read] of Object.entries(report.documents)) {
        if (!this.#isOpen(name)) continue;
        shown.documentsBegun++;
        shown.chunks += read.chunks;
        shown.child_chunks += read.child_chunks;
        shown.pagesExpected += read.pages_expected;
        shown.pagesDone += read.pages;
      }
    Object.assign(this.#progress, shown);
  }
}
