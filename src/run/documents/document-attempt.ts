import type { DocumentRef, KnowledgeApi } from "../../client/knowledge-api.js";
import type { Batch, Checkpoint } from "../../crawl/batch.js";
import { type ChildSource, supposedChildren } from "../../crawl/child-evidence.js";
import { type CrawlOptions, crawlDocument } from "../../crawl/crawl-document.js";
import type { TellProblem } from "../../crawl/problems.js";
import { answersOf } from "../../crawl/read-list.js";
import type { DocumentRow } from "../../rows/document-row.js";
import { noDrift } from "../../rows/drift.js";
import type { DocumentStore } from "../parts/document-store.js";
import { AttemptTally } from "./attempt-tally.js";
import { childListsOf } from "./child-lists-read.js";
import type { AttemptNumber, DocumentProgress, DocumentResult, ReadSoFar } from "./document-result.js";
import { DocumentRows, tooDeep } from "./document-rows.js";
import type { DumpOptions, Earlier } from "./dump-options.js";
import { embeddedLines, readEmbedded } from "./embedded-part.js";
import type { Proof } from "./proof.js";

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
  readonly #tally: AttemptTally;
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
    this.#tally = new AttemptTally(options.tally, options.job.childChunks, earlier?.read);
    this.#rows = new DocumentRows(ref, options.job.output.keepSignatures, earlier?.read.drift);
    this.#docForm = earlier?.read.docForm ?? null;
    this.#childPage = earlier?.read.childPage ?? 0;
    this.#childPiece = earlier?.read.checkpoint.childPiece ?? Number.POSITIVE_INFINITY;
    this.#splitLists = earlier?.read.splitLists ?? false;
    this.#checkpoint = earlier?.read.checkpoint;
  }

  async read(api: KnowledgeApi, problem: TellProblem): Promise<void> {
    for await (const batch of crawlDocument(api, this.#ref, this.#crawlOptions(problem))) {
      try {
        const rows = this.#rows.rowsFrom(batch);
        if (batch.kind === "chunks" && this.#options.job.childChunks !== "none") {
          this.#store.keepAside(embeddedLines(batch.records, this.#tally.counts.chunks, this.#least(batch)));
        }
        this.#count(batch);
        await this.#store.add(batch.kind, rows, this.#progress(batch.checkpoint));
      } catch (error) {
        throw tooDeep(error) ?? error;
      }
    }
  }

  /** Rows read of each kind. */
  get counts(): { readonly chunks: number; readonly child_chunks: number } {
    return this.#tally.counts;
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
    this.#tally.takeBack();
  }

  result(status: DocumentRow["status"], error: string | null, proof: Proof): DocumentResult {
    const { chunks, child_chunks } = this.#tally.counts;
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

  #crawlOptions(problem: TellProblem): CrawlOptions {
    const { job, lookAhead } = this.#options;
    const from = this.#earlier && { checkpoint: this.#earlier.read.checkpoint, ids: this.#earlier.ids };
    const { childChunks } = job;
    const { keepSignatures } = job.output;
    const fromTheEnd = this.#attempt.fromTheEnd && isWhole(this.#ref);
    return { childChunks, embedded: () => this.#embedded(), keepSignatures, lookAhead, problem, fromTheEnd, from };
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

  #progress(checkpoint: Checkpoint | undefined): DocumentProgress | undefined {
    if (!checkpoint) return undefined;
    const read: ReadSoFar = {
      checkpoint,
      docForm: this.#docForm,
      childPage: this.#childPage,
      splitLists: this.#splitLists,
      counts: { ...this.#tally.counts },
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
    this.#tally.count(batch);
  }
}

/** Rows may come and go in a filtered list wherever they stand. */
function isWhole({ status, keyword }: DocumentRef): boolean {
  return status.length === 0 && keyword === undefined;
}
