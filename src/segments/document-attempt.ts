import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { Batch, Checkpoint } from "../crawl/batch.js";
import { type ChildSource, forecastLists, listCounts, sampleOf, supposedChildren } from "../crawl/child-evidence.js";
import { type CrawlOptions, crawlDocument } from "../crawl/crawl-document.js";
import type { IdSet } from "../crawl/id-set.js";
import type { Prefetch } from "../crawl/prefetch.js";
import { answersOf, type ReportProblem } from "../crawl/read-list.js";
import type { TextFormat } from "../dump/formats/format.js";
import { SkipError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";

import type { DocumentRow, Row } from "../rows/row.js";
import { type Drift, DriftCount, noDrift, rowFromRecord } from "../rows/row-from-record.js";
import {
  type AttemptNumber,
  childListsOf,
  type DocumentProgress,
  type DocumentResult,
  type Proof,
  type ReadSoFar,
} from "./document-result.js";
import type { DocumentStore } from "./document-store.js";
import type { SharedSegments } from "./shared-segments.js";
import { embeddedLines, readEmbedded } from "./sweep-document.js";

type Store = DocumentStore<DocumentProgress, DocumentResult>;

/** No service puts fewer children on a page unless it is asked to. */
const longList = 20;

/** One reading of a document into its store. */
export class DocumentAttempt {
  readonly #ref: DocumentRef;
  readonly #store: Store;
  readonly #attempt: AttemptNumber;
  readonly #options: DumpOptions;
  readonly #earlier: Earlier | undefined;
  readonly #progress: AttemptProgress;
  readonly #rows: DocumentRows;
  /** Times that the document was read, this attempt and its sweep included. */
  sweeps: number;
  #docForm: string | null;
  #childPage: number;
  #childPiece: number;
  #splitLists: boolean;
  #checkpoint: Checkpoint | undefined;

  constructor(
    ref: DocumentRef,
    store: Store,
    attempt: AttemptNumber,
    options: DumpOptions,
    earlier: Earlier | undefined,
  ) {
    this.#ref = ref;
    this.#store = store;
    this.#attempt = attempt;
    this.sweeps = attempt.sweeps + 1;
    this.#options = options;
    this.#earlier = earlier;
    this.#progress = new AttemptProgress(options.progress, options.job.childChunks, earlier?.read);
    this.#rows = new DocumentRows(ref, options.job.output.keepSignatures, earlier?.read.drift);
    this.#docForm = earlier?.read.docForm ?? null;
    this.#childPage = earlier?.read.childPage ?? 0;
    this.#childPiece = earlier?.read.checkpoint.childPiece ?? Number.POSITIVE_INFINITY;
    this.#splitLists = earlier?.read.splitLists ?? false;
    this.#checkpoint = earlier?.read.checkpoint;
  }

  async read(api: KnowledgeApi, problem: ReportProblem): Promise<void> {
    for await (const batch of crawlDocument(api, this.#ref, this.#crawlOptions(problem))) {
      try {
        const rows = this.#rows.rowsFrom(batch);
        if (batch.kind === "chunks" && this.#options.job.childChunks !== "none") {
          this.#store.keepAside(embeddedLines(batch.records, this.#progress.counts.chunks, this.#least(batch)));
        }
        this.#count(batch);
        await this.#store.add(batch.kind, rows, this.#savedState(batch.checkpoint));
      } catch (error) {
        throw tooDeep(error) ?? error;
      }
    }
  }

  /** Rows read of each kind. */
  get counts(): { readonly chunks: number; readonly child_chunks: number } {
    return this.#progress.counts;
  }

  /** Rows that came with one answer, in the largest page of a child list: a list of more may have taken several. */
  get childPage(): number {
    return Math.min(this.#childPage, this.#childPiece);
  }

  /** Chunks that the service counted. */
  get total(): number {
    return this.#checkpoint?.total ?? 0;
  }

  /** Chunks on a page. */
  get pageSize(): number {
    return this.#checkpoint?.pageSize ?? 0;
  }

  /** Answers with which the chunks came, at the least. */
  get chunkAnswers(): number {
    return this.#checkpoint?.answers ?? 0;
  }

  /** Whether this process proved the chunks by reading them from their end; those of an earlier one are swept. */
  get isAnchored(): boolean {
    return this.#checkpoint?.isAnchored === true && !this.#earlier;
  }

  /** Whether nothing was added lately to the chunks. */
  get isSettled(): boolean {
    return this.#checkpoint?.isSettled === true;
  }

  /** Whether every list came with one answer, and whether every child list did. */
  get isOneAnswer(): boolean {
    return this.chunkAnswers <= 1 && !this.#splitLists;
  }
  get hasShortLists(): boolean {
    return !this.#splitLists;
  }

  /** The source of the children. */
  get source(): ChildSource {
    return this.#checkpoint?.children.plan?.source ?? "lists";
  }

  /** Takes back what was counted. */
  takeBack(): void {
    this.#progress.takeBack();
  }

  result(status: DocumentRow["status"], error: string | null, proof: Proof): DocumentResult {
    const { chunks, child_chunks } = this.#progress.counts;
    const row: DocumentRow = {
      dataset_id: this.#ref.datasetId,
      document_id: this.#ref.documentId,
      doc_form: this.#docForm,
      status,
      total: this.#checkpoint?.total ?? null,
      chunk_count: chunks,
      child_chunk_count: child_chunks,
      sweeps: this.sweeps,
      error,
    };
    if (status === "failed") return { row, drift: noDrift, childLists: null, proof: "none" };
    const childLists = childListsOf(this.#options.job.childChunks, row, this.#checkpoint?.children);
    return { row, drift: this.#rows.drift, childLists, proof: status === "complete" ? proof : "none" };
  }

  #crawlOptions(problem: ReportProblem): CrawlOptions {
    const { job, prefetch } = this.#options;
    const from = this.#earlier && { checkpoint: this.#earlier.read.checkpoint, ids: this.#earlier.ids };
    const { childChunks } = job;
    const { keepSignatures } = job.output;
    const fromTheEnd = this.#attempt.fromTheEnd && isWhole(this.#ref);
    return { childChunks, embedded: () => this.#embedded(), keepSignatures, prefetch, problem, fromTheEnd, from };
  }

  /** Children that a chunk has to embed for them to be kept: `auto` may want all, ties those of lists of several pages. */
  #least({ checkpoint }: Batch): number {
    const isAuto = this.#options.job.childChunks === "auto";
    return isAuto && checkpoint && supposedChildren(checkpoint.children.evidence).source === "embedded" ? 1 : longList;
  }

  async *#embedded(): ReturnType<typeof readEmbedded> {
    if (!this.#store.hasAside) return;
    await this.#store.flush();
    yield* readEmbedded(this.#store.asidePath);
  }

  #savedState(checkpoint: Checkpoint | undefined): DocumentProgress | undefined {
    if (!checkpoint) return undefined;
    const read: ReadSoFar = {
      checkpoint,
      docForm: this.#docForm,
      childPage: this.#childPage,
      splitLists: this.#splitLists,
      counts: { ...this.#progress.counts },
      drift: this.#rows.drift,
    };
    return { attempt: this.#attempt, read };
  }

  #count(batch: Batch): void {
    const { kind, records, docForm, isPage, piece, checkpoint } = batch;
    this.#checkpoint = checkpoint ?? this.#checkpoint;
    const isSplitList = kind === "child_chunks" && isPage && (!checkpoint || answersOf({ rows: records, piece }) > 1);
    this.#splitLists ||= isSplitList;
    if (kind === "chunks") this.#docForm = docForm ?? this.#docForm;
    else if (piece !== undefined) this.#childPiece = Math.min(this.#childPiece, piece);
    else if (isPage) this.#childPage = Math.max(this.#childPage, records.length);
    this.#progress.count(batch);
  }
}

/** Rows may come and go in a filtered list wherever they stand. */
function isWhole({ status, keyword }: DocumentRef): boolean {
  return status.length === 0 && keyword === undefined;
}

type Counts = { chunks: number; child_chunks: number };

/** Counts what one reading of a document comes to, in the tally of the run, too, from which it can be taken back. */
class AttemptProgress {
  readonly #progress: RunProgress;
  readonly #childChunks: Job["childChunks"];
  readonly #counts: Counts;
  #begun = false;
  #expected = 0;
  #done = 0;

  /** `earlier` is what a process before has counted, and where it stopped. */
  constructor(
    progress: RunProgress,
    childChunks: Job["childChunks"],
    earlier: { readonly counts: Counts; readonly checkpoint: Checkpoint } | undefined,
  ) {
    this.#progress = progress;
    this.#childChunks = childChunks;
    this.#counts = { chunks: 0, child_chunks: 0, ...earlier?.counts };
    progress.chunks += this.#counts.chunks;
    progress.child_chunks += this.#counts.child_chunks;
    if (earlier) {
      this.#expect(earlier.checkpoint);
      this.#add(0, this.#doneAt(earlier.checkpoint));
    }
  }

  /** Rows read of each kind. */
  get counts(): Readonly<Counts> {
    return this.#counts;
  }

  count({ kind, records, isPage, checkpoint }: Batch): void {
    this.#counts[kind] += records.length;
    this.#progress[kind] += records.length;
    const isDecision = kind === "child_chunks" && records.length === 0 && !isPage;
    if (checkpoint && (!this.#begun || isDecision)) this.#expect(checkpoint);
    if (checkpoint && isDecision) this.#add(0, this.#doneAt(checkpoint) - this.#done);
    if (isPage) this.#add(0, 1);
  }

  /** Takes back what was counted. */
  takeBack(): void {
    const progress = this.#progress;
    progress.chunks -= this.#counts.chunks;
    progress.child_chunks -= this.#counts.child_chunks;
    this.#add(-this.#expected, -this.#done);
    if (this.#begun) progress.documentsBegun--;
    this.#begun = false;
    Object.assign(this.#counts, { chunks: 0, child_chunks: 0 });
  }

  /** Reports to the tally how many pages and child lists there are, as well as that is known. */
  #expect(checkpoint: Checkpoint): void {
    const { total, pageSize } = checkpoint;
    const pages = Math.max(1, Math.ceil(total / Math.max(pageSize, 1))) + this.#listsOf(checkpoint);
    this.#add(pages - this.#expected, 0);
    if (!this.#begun) this.#progress.documentsBegun++;
    this.#begun = true;
  }

  #listsOf({ total, children: { evidence, plan } }: Checkpoint): number {
    if (this.#childChunks === "none") return 0;
    if (this.#childChunks === "all") return total;
    return (plan ? listCounts(evidence, plan) : forecastLists(evidence, total)).asked;
  }

  /** Pages and lists that are done at a checkpoint; where some lists are not asked for, about as many as their share. */
  #doneAt(checkpoint: Checkpoint): number {
    const { chunkPages, childLists, total, children } = checkpoint;
    const sampled = children.plan?.source === "embedded" ? sampleOf(children.evidence).length : 0;
    const others = this.#listsOf(checkpoint) - sampled;
    return chunkPages + sampled + Math.round((childLists * others) / Math.max(1, total));
  }

  #add(expected: number, done: number): void {
    this.#expected += expected;
    this.#done += done;
    this.#progress.pagesExpected += expected;
    this.#progress.pagesDone += done;
  }
}

/** Makes the rows of one document, and counts what came otherwise than expected. */
class DocumentRows {
  readonly #ref: DocumentRef;
  readonly #keepSignatures: boolean;
  readonly #drift: DriftCount;

  /** `drift` was counted by an earlier process. */
  constructor(ref: DocumentRef, keepSignatures: boolean, drift?: Drift) {
    this.#ref = ref;
    this.#keepSignatures = keepSignatures;
    this.#drift = new DriftCount(drift);
  }

  get drift(): Drift {
    return this.#drift.drift;
  }

  rowsFrom({ kind, records, chunkId }: Batch): readonly Row[] {
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const parent = kind === "chunks" ? known : { ...known, segment_id: chunkId };
    const options = { keepSignatures: this.#keepSignatures, drift: this.#drift.add };
    return records.map((record) => rowFromRecord(kind, record, parent, options));
  }
}

/** A value nested thousands of levels deep cannot be written; that is this document's trouble, not that of the others. */
function tooDeep(error: unknown): SkipError | undefined {
  if (!(error instanceof RangeError)) return undefined;
  return new SkipError("a record is nested too deeply to be written", { cause: error });
}

/** How the documents of a run are read, and where their parts lie. */
export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly segments: string;
  /** Keeps complete documents that are small, several in one file; undefined: every document has files of its own. */
  readonly shared?: SharedSegments<DocumentResult> | undefined;
  /** Names of the documents of which an earlier process left files there. */
  readonly begun: ReadonlySet<string>;
  readonly prefetch: Prefetch;
  readonly progress: RunProgress;
  /** Read documents again that an earlier process could not read whole. */
  readonly retryFailed: boolean;
}

/** The place where an earlier process stopped, and the ids of the chunks that it read. */
export interface Earlier {
  readonly read: ReadSoFar;
  readonly ids: IdSet;
}
