import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { type Batch, type Checkpoint, type CrawlOptions, crawlDocument } from "../crawl/crawl-document.js";
import { SkipError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { DocumentRow } from "../normalise/document-row.js";
import { DriftCount } from "../normalise/drift.js";
import { rowFromRecord } from "../normalise/row-from-record.js";
import type { TextFormat } from "../sinks/sink.js";
import type { DocumentProgress, DocumentResult } from "./document-result.js";
import type { DocumentStore } from "./document-store.js";
import type { RunTally } from "./run-tally.js";

export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  readonly lookAhead: CrawlOptions["lookAhead"];
  readonly tally: RunTally;
  /** Read documents again that an earlier process could not read whole. */
  readonly retryFailed: boolean;
}

/** Where an earlier process stopped, and the ids of the chunks that it read. */
export interface Earlier {
  readonly progress: DocumentProgress;
  readonly ids: readonly string[];
}

type Store = DocumentStore<DocumentProgress, DocumentResult>;

/** One reading of a document into its store. */
export class DocumentAttempt {
  readonly #ref: DocumentRef;
  readonly #store: Store;
  readonly #attempt: number;
  readonly #options: DumpOptions;
  readonly #earlier: Earlier | undefined;
  readonly #counts: { chunks: number; child_chunks: number };
  readonly #pages = { expected: 0, done: 0 };
  readonly #drift: DriftCount;
  #docForm: string | null;
  #total: number | null;
  #childPage: number;
  #childPiece = Number.POSITIVE_INFINITY;

  constructor(ref: DocumentRef, store: Store, attempt: number, options: DumpOptions, earlier: Earlier | undefined) {
    this.#ref = ref;
    this.#store = store;
    this.#attempt = attempt;
    this.#options = options;
    this.#earlier = earlier;
    this.#counts = { chunks: 0, child_chunks: 0, ...earlier?.progress.counts };
    this.#drift = new DriftCount(earlier?.progress.drift);
    this.#docForm = earlier?.progress.docForm ?? null;
    this.#childPage = earlier?.progress.childPage ?? 0;
    this.#total = earlier?.progress.checkpoint.total ?? null;
    this.#childPiece = earlier?.progress.checkpoint.childPiece ?? this.#childPiece;
    options.tally.chunks += this.#counts.chunks;
    options.tally.child_chunks += this.#counts.child_chunks;
    if (earlier) this.#expect(earlier.progress.checkpoint);
  }

  async read(api: KnowledgeApi, problem: (text: string) => void): Promise<void> {
    const { job, lookAhead } = this.#options;
    const rowOptions = { keepSignatures: job.output.keepSignatures, drift: this.#drift.add };
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const childChunks = job.childChunks === "none" ? "none" : "all";
    const from = this.#earlier && { checkpoint: this.#earlier.progress.checkpoint, ids: this.#earlier.ids };
    for await (const batch of crawlDocument(api, this.#ref, { childChunks, lookAhead, problem, from })) {
      const parent = batch.kind === "chunks" ? known : { ...known, segment_id: batch.chunkId };
      try {
        const rows = batch.records.map((record) => rowFromRecord(batch.kind, record, parent, rowOptions));
        this.#count(batch);
        await this.#store.add(batch.kind, rows, this.#progress(batch.checkpoint));
      } catch (error) {
        throw tooDeep(error) ?? error;
      }
    }
  }

  /** Rows read of each kind. */
  get counts(): { readonly chunks: number; readonly child_chunks: number } {
    return this.#counts;
  }

  /** Rows that came with one answer, in the largest page of child chunks: a list of more may have taken several. */
  get childPage(): number {
    return Math.min(this.#childPage, this.#childPiece);
  }

  /** Takes back what was counted. */
  takeBack(): void {
    const { tally } = this.#options;
    tally.chunks -= this.#counts.chunks;
    tally.child_chunks -= this.#counts.child_chunks;
    tally.pagesExpected -= this.#pages.expected;
    tally.pagesDone -= this.#pages.done;
    if (this.#pages.expected > 0) tally.documentsBegun--;
    Object.assign(this.#counts, { chunks: 0, child_chunks: 0 });
  }

  result(status: DocumentRow["status"], sweeps: number, error: string | null): DocumentResult {
    const row: DocumentRow = {
      dataset_id: this.#ref.datasetId,
      document_id: this.#ref.documentId,
      doc_form: this.#docForm,
      status,
      total: this.#total,
      chunk_count: this.#counts.chunks,
      child_chunk_count: this.#counts.child_chunks,
      sweeps,
      error,
    };
    return { row, drift: status === "failed" ? {} : this.#drift.drift };
  }

  #progress(checkpoint: Checkpoint | undefined): DocumentProgress | undefined {
    if (!checkpoint) return undefined;
    const { chunks, child_chunks } = this.#counts;
    const counts = { chunks, child_chunks };
    return {
      attempt: this.#attempt,
      checkpoint,
      docForm: this.#docForm,
      childPage: this.#childPage,
      counts,
      drift: this.#drift.drift,
    };
  }

  #count({ kind, records, docForm, piece, checkpoint }: Batch): void {
    const { tally } = this.#options;
    if (kind === "chunks") {
      this.#docForm = docForm ?? this.#docForm;
      this.#total = checkpoint?.total ?? this.#total;
    }
    if (kind === "child_chunks") {
      if (piece === undefined) this.#childPage = Math.max(this.#childPage, records.length);
      else this.#childPiece = Math.min(this.#childPiece, piece);
    }
    if (checkpoint && this.#pages.expected === 0) this.#expect(checkpoint);
    this.#pages.done++;
    tally.pagesDone++;
    this.#counts[kind] += records.length;
    tally[kind] += records.length;
  }

  /** Tells the tally how many pages and child lists there are, as soon as that is known. */
  #expect({ total, pageSize, chunkPages, childLists }: Checkpoint): void {
    const { job, tally } = this.#options;
    const childPages = job.childChunks === "none" ? 0 : total;
    this.#pages.expected = Math.max(1, Math.ceil(total / Math.max(pageSize, 1))) + childPages;
    this.#pages.done = this.#earlier ? chunkPages + childLists : 0;
    tally.pagesExpected += this.#pages.expected;
    tally.pagesDone += this.#pages.done;
    tally.documentsBegun++;
  }
}

/** A value nested thousands of levels deep cannot be written; that is this document's trouble, not that of the others. */
function tooDeep(error: unknown): SkipError | undefined {
  if (!(error instanceof RangeError)) return undefined;
  return new SkipError("a record is nested too deeply to be written", { cause: error });
}
