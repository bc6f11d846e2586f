import type { KnowledgeApi } from "../../../client/knowledge-api.js";
import type { Writer } from "../../../client/write/writer.js";
import type { ReadDocumentRows } from "../../../compare/load-document-rows.js";
import type { Log } from "../../../log.js";
import type { DocumentPlan } from "../copy-plan.js";
import type { CopyProgress } from "../copy-result.js";
import type { CopyJournal } from "../journal.js";

export interface ApplyOptions {
  readonly api: KnowledgeApi;
  readonly writer: Writer;
  readonly journal: CopyJournal;
  /** Reads the rows of one document of the dump; it may be called for several at once. */
  readonly readRows: ReadDocumentRows;
  /** Ends between two requests; then it rejects with the reason. */
  readonly signal: AbortSignal;
  /** Documents that are written at once. */
  readonly concurrency: number;
  /** Milliseconds for which a lost answer is looked for. */
  readonly settle: number;
  /** Milliseconds for which the service may lock a document while it adds chunks. */
  readonly lockTime: number;
  /** Chunks that one request adds; one for all documents of a move, since they learn it together. */
  readonly batchSize: BatchSize;
  readonly log: Log;
  readonly progress: CopyProgress;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects with the reason of the signal. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** A document of the target that is being made, and the document of the dump that it is a copy of. */
export interface DocumentWork {
  readonly options: ApplyOptions;
  readonly plan: DocumentPlan;
  /** Ids at the service. */
  readonly place: { readonly datasetId: string; readonly documentId: string };
}

/** Chunks of the first request, and of the largest. */
export const [firstSize, largestSize] = [20, 200];
/** Milliseconds below which a request is quick, and above which it is slow. */
const [quick, slow] = [2_000, 20_000];

/**
 * The number of chunks that one request adds: more while the service is quick, fewer where it is slow. Each request embeds all of its
 * chunks, so nothing but its time tells how many a service takes. All documents of a move share one.
 */
export class BatchSize {
  #size = firstSize;
  #most = largestSize;

  /** Chunks that a request adds at the most. */
  get size(): number {
    return Math.min(this.#size, this.#most);
  }

  /** A request for so many chunks was answered after so many milliseconds. One that was not full tells nothing about a larger one. */
  answered(chunks: number, milliseconds: number): void {
    if (milliseconds > slow) this.#shrink(chunks);
    else if (milliseconds < quick && chunks >= this.size) this.#size = Math.min(largestSize, this.size * 2);
  }

  /** A request for so many chunks had no answer. */
  lost(chunks: number): void {
    this.#shrink(chunks);
  }

  /** The service takes so many chunks in one request, and no more. */
  keepTo(most: number): void {
    this.#most = Math.max(1, Math.min(this.#most, most));
  }

  /** A request of before may be slow although the size has shrunk meanwhile. */
  #shrink(chunks: number): void {
    this.#size = Math.max(1, Math.min(this.size, Math.floor(chunks / 2)));
  }
}
