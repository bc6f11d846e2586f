import type { Listed } from "../client/check-list.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import type { Batch, Checkpoint } from "../crawl/batch.js";
import { type ChildSource, supposedChildren } from "../crawl/child-evidence.js";
import { type CrawlOptions, crawlDocument } from "../crawl/crawl-document.js";
import type { IdSet } from "../crawl/id-set.js";
import type { TellProblem } from "../crawl/problems.js";
import { SkipError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { DocumentRow } from "../normalise/document-row.js";
import { DriftCount } from "../normalise/drift.js";
import { jsonText } from "../normalise/json-text.js";
import { type Row, type RowOptions, rowFromRecord } from "../normalise/row-from-record.js";
import type { TextFormat } from "../sinks/sink.js";
import { AttemptTally } from "./attempt-tally.js";
import { childListsOf } from "./child-lists-read.js";
import type { DocumentProgress, DocumentResult } from "./document-result.js";
import type { DocumentStore } from "./document-store.js";
import { embeddedLines, readEmbedded } from "./embedded-part.js";
import { type Proof, proofOf } from "./proof.js";
import type { RunTally } from "./run-tally.js";

export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  /** Names of the documents of which an earlier process left something there. */
  readonly begun: ReadonlySet<string>;
  readonly lookAhead: CrawlOptions["lookAhead"];
  readonly tally: RunTally;
  /** Read documents again that an earlier process could not read whole. */
  readonly retryFailed: boolean;
}

/** Which reading of a document this is. */
export interface AttemptNumber {
  /** 1 for the first. */
  readonly number: number;
  /** Times that the document was read, sweeps and this reading included. */
  readonly sweeps: number;
  /** Whether to read the chunks from their end. */
  readonly fromTheEnd: boolean;
}

/** Where an earlier process stopped, and the ids of the chunks that it read. */
export interface Earlier {
  readonly progress: DocumentProgress;
  readonly ids: IdSet;
}

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
  readonly #drift: DriftCount;
  #docForm: string | null;
  #childPage: number;
  #childPiece: number;
  #isSplit: boolean;
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
    this.#options = options;
    this.#earlier = earlier;
    this.#tally = new AttemptTally(options.tally, options.job.childChunks, earlier?.progress);
    this.#drift = new DriftCount(earlier?.progress.drift);
    this.#docForm = earlier?.progress.docForm ?? null;
    this.#childPage = earlier?.progress.childPage ?? 0;
    this.#childPiece = earlier?.progress.checkpoint.childPiece ?? Number.POSITIVE_INFINITY;
    this.#isSplit = earlier?.progress.isSplit ?? false;
    this.#checkpoint = earlier?.progress.checkpoint;
  }

  async read(api: KnowledgeApi, problem: TellProblem): Promise<void> {
    for await (const batch of crawlDocument(api, this.#ref, this.#crawlOptions(problem))) {
      try {
        const rows = batch.records.map(this.#toRow(batch, this.#drift.add));
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

  /** Answers with which the chunks came, at the least. */
  get chunkAnswers(): number {
    return this.#checkpoint?.answers ?? 0;
  }

  /** Whether this process proved the chunks by reading them from their end; those of an earlier one are swept. */
  get isAnchored(): boolean {
    return this.#checkpoint?.order === "anchored" && !this.#earlier;
  }

  /** Whether every list came with one answer. */
  get isOneAnswer(): boolean {
    return !this.#isSplit;
  }

  /** Where the children came from. */
  get source(): ChildSource {
    return this.#checkpoint?.children.plan?.source ?? "lists";
  }

  /** Takes back what was counted. */
  takeBack(): void {
    this.#tally.takeBack();
  }

  result(status: DocumentRow["status"], sweeps: number, error: string | null, proof: Proof): DocumentResult {
    const { chunks, child_chunks } = this.#tally.counts;
    const row: DocumentRow = {
      dataset_id: this.#ref.datasetId,
      document_id: this.#ref.documentId,
      doc_form: this.#docForm,
      status,
      total: this.#checkpoint?.total ?? null,
      chunk_count: chunks,
      child_chunk_count: child_chunks,
      sweeps,
      error,
    };
    if (status === "failed") return { row, drift: {}, childLists: null, proof: proofOf(row, "none") };
    const childLists = childListsOf(this.#options.job.childChunks, row, this.#checkpoint?.children);
    return { row, drift: this.#drift.drift, childLists, proof: proofOf(row, status === "complete" ? proof : "none") };
  }

  #crawlOptions(problem: TellProblem): CrawlOptions {
    const { job, lookAhead } = this.#options;
    const from = this.#earlier && { checkpoint: this.#earlier.progress.checkpoint, ids: this.#earlier.ids };
    const { childChunks } = job;
    const { fromTheEnd } = this.#attempt;
    return {
      childChunks,
      embedded: () => this.#embedded(),
      textOf: this.#textOf,
      lookAhead,
      problem,
      fromTheEnd,
      from,
    };
  }

  /** A child as its row will be written; one that cannot be is like no other, and told of when its turn comes. */
  readonly #textOf: CrawlOptions["textOf"] = (child, chunkId) => {
    try {
      return jsonText(this.#toRow({ kind: "child_chunks", chunkId }, () => {})(child));
    } catch (error) {
      if (!tooDeep(error)) throw error;
      return `nested too deeply: ${child.id}`;
    }
  };

  #toRow({ kind, chunkId }: Pick<Batch, "kind" | "chunkId">, drift: RowOptions["drift"]): (record: Listed) => Row {
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const parent = kind === "chunks" ? known : { ...known, segment_id: chunkId };
    const options = { keepSignatures: this.#options.job.output.keepSignatures, drift };
    return (record) => rowFromRecord(kind, record, parent, options);
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
    if (!checkpoint || checkpoint.order === "from the end") return undefined;
    return {
      attempt: this.#attempt.number,
      sweeps: this.#attempt.sweeps,
      checkpoint,
      docForm: this.#docForm,
      childPage: this.#childPage,
      isSplit: this.#isSplit,
      counts: { ...this.#tally.counts },
      drift: this.#drift.drift,
    };
  }

  #count(batch: Batch): void {
    const { kind, records, docForm, isPage, piece, checkpoint } = batch;
    this.#checkpoint = checkpoint ?? this.#checkpoint;
    this.#isSplit ||= piece !== undefined || (kind === "chunks" ? this.chunkAnswers > 1 : !checkpoint && isPage);
    if (kind === "chunks") this.#docForm = docForm ?? this.#docForm;
    else if (piece !== undefined) this.#childPiece = Math.min(this.#childPiece, piece);
    else if (isPage) this.#childPage = Math.max(this.#childPage, records.length);
    this.#tally.count(batch);
  }
}

/** A value nested thousands of levels deep cannot be written; that is this document's trouble, not that of the others. */
function tooDeep(error: unknown): SkipError | undefined {
  if (!(error instanceof RangeError)) return undefined;
  return new SkipError("a record is nested too deeply to be written", { cause: error });
}
