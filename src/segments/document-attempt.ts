import type { Listed } from "../client/check-answer.js";
import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { forecastLists, listCounts, sampleOf, supposedChildren } from "../crawl/auto-child-lists.js";
import { type CrawlOptions, DocumentCrawl } from "../crawl/crawl-document.js";
import type { HowFar } from "../crawl/how-far.js";
import type { IdSet } from "../crawl/id-set.js";
import { type EditEvidence, needsDetails, noEditEvidence, withEvidence } from "../crawl/needs-details.js";
import type { Prefetch } from "../crawl/prefetch.js";
import { pagesOf, type ReportProblem } from "../crawl/read-list.js";
import type { TextFormat } from "../dump/formats/format.js";
import { SkipError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";
import type { DocumentRow, Row } from "../rows/row.js";
import { type Drift, DriftCount, noDrift, rowFromRecord } from "../rows/row-from-record.js";
import type { DocumentOnDisk } from "./document-on-disk.js";
import {
  type AttemptNumber,
  childListsOf,
  type DocumentProgress,
  type DocumentResult,
  type Proof,
  type ReadSoFar,
} from "./document-result.js";
import type { SharedSegments } from "./shared-segments.js";
import { embeddedLines, readEmbedded } from "./sweep-document.js";

type OnDisk = DocumentOnDisk<DocumentProgress, DocumentResult>;

/**
 * For the child lists of chunks with at least this many embedded children, the embedded ones are kept as a fallback. Shorter
 * lists fit on one page, even at the service's default page size, and need none.
 */
const longList = 20;

/** One attempt to read a document into its files on disk. */
export class DocumentAttempt {
  readonly #ref: DocumentRef;
  readonly #onDisk: OnDisk;
  readonly #attempt: AttemptNumber;
  readonly #options: DumpOptions;
  readonly #earlier: Earlier | undefined;
  readonly #progress: AttemptProgress;
  readonly #rows: DocumentRows;
  #howFar: HowFar | undefined;

  constructor(
    ref: DocumentRef,
    onDisk: OnDisk,
    attempt: AttemptNumber,
    options: DumpOptions,
    earlier: Earlier | undefined,
  ) {
    this.#ref = ref;
    this.#onDisk = onDisk;
    this.#attempt = attempt;
    this.#options = options;
    this.#earlier = earlier;
    this.#progress = new AttemptProgress(options.progress, options.job.childChunks);
    this.#rows = new DocumentRows(ref, options.job.output.keepSignatures, earlier?.read);
    this.#reach(earlier?.read.howFar);
  }

  /** The progress so far; undefined before the first page. */
  get howFar(): HowFar | undefined {
    return this.#howFar;
  }

  /** Reads all chunks and child chunks into the files on disk. Calls `problem` for every sign that they are incomplete; it may throw. */
  async read(api: KnowledgeApi, problem: ReportProblem): Promise<void> {
    const crawl = new DocumentCrawl(api, this.#ref, this.#crawlOptions(problem));
    for await (const chunks of crawl.chunks()) {
      this.#reach(crawl.howFar);
      await this.#add("chunks", chunks);
    }
    await crawl.decideSource();
    this.#reach(crawl.howFar);
    await this.#add("child_chunks", []);
    for await (const { chunkId, rows, isWhole } of crawl.children()) {
      this.#reach(crawl.howFar);
      await this.#add("child_chunks", rows, { chunkId, isWhole });
    }
  }

  /** Subtracts this attempt from the progress of the run. */
  takeBack(): void {
    this.#progress.takeBack();
  }

  /** The result of the document after this attempt. `sweeps`: how often the document was read, including earlier attempts. */
  result(status: DocumentRow["status"], error: string | null, proof: Proof, sweeps: number): DocumentResult {
    const { chunks, children } = { chunks: undefined, children: undefined, ...this.#howFar };
    const isFailed = status === "failed";
    const row: DocumentRow = {
      dataset_id: this.#ref.datasetId,
      document_id: this.#ref.documentId,
      doc_form: chunks?.docForm ?? null,
      status,
      total: chunks?.total ?? null,
      chunk_count: isFailed ? 0 : (chunks?.rows ?? 0),
      child_chunk_count: isFailed ? 0 : (children?.rows ?? 0),
      sweeps,
      error,
    };
    if (isFailed) return { row, drift: noDrift, childLists: null, proof: "none", edited: false };
    const childLists = childListsOf(this.#options.job.childChunks, row, children);
    const { drift, edits } = this.#rows;
    return { row, drift, childLists, proof: status === "complete" ? proof : "none", edited: needsDetails(edits) };
  }

  #crawlOptions(problem: ReportProblem): CrawlOptions {
    const { job, prefetch } = this.#options;
    const from = this.#earlier && { howFar: this.#earlier.read.howFar, ids: this.#earlier.ids };
    const { childChunks } = job;
    const { keepSignatures } = job.output;
    const fromTheEnd = this.#attempt.fromTheEnd && isWhole(this.#ref);
    return { childChunks, embedded: () => this.#embedded(), keepSignatures, prefetch, problem, fromTheEnd, from };
  }

  #reach(howFar: HowFar | undefined): void {
    this.#howFar = howFar;
    if (!howFar) return;
    const left = this.#progress.reach(howFar);
    if (left > (this.#options.mostPages ?? Number.POSITIVE_INFINITY)) throw new TooLargeError();
  }

  /** Stores records. A later process can continue after them, unless they end inside a child list. */
  async #add(
    kind: "chunks" | "child_chunks",
    records: readonly Listed[],
    { chunkId, isWhole }: { readonly chunkId?: string; readonly isWhole: boolean } = { isWhole: true },
  ): Promise<void> {
    try {
      const rows = this.#rows.rowsFrom(kind, records, chunkId);
      if (kind === "chunks") this.#keepEmbedded(records);
      const { drift, edits } = this.#rows;
      const read = this.#howFar && isWhole ? { howFar: this.#howFar, drift, edits } : undefined;
      await this.#onDisk.add(kind, rows, read && { attempt: this.#attempt, read });
    } catch (error) {
      throw tooDeep(error) ?? error;
    }
  }

  /** Keeps embedded children: all if `auto` may use them, otherwise only those that may replace a list of several pages. */
  #keepEmbedded(chunks: readonly Listed[]): void {
    const { childChunks } = this.#options.job;
    if (childChunks === "none" || !this.#howFar) return;
    const { chunks: read, children } = this.#howFar;
    const isTaken = childChunks === "auto" && supposedChildren(children.evidence).source === "embedded";
    this.#onDisk.keepAside(embeddedLines(chunks, read.rows - chunks.length, isTaken ? 1 : longList));
  }

  async *#embedded(): ReturnType<typeof readEmbedded> {
    if (!this.#onDisk.hasAside) return;
    await this.#onDisk.flush();
    yield* readEmbedded(this.#onDisk.asidePath);
  }
}

/** Whether the job reads all chunks of the document. In a filtered list, rows may appear and disappear anywhere. */
function isWhole({ status, keyword }: DocumentRef): boolean {
  return status.length === 0 && keyword === undefined;
}

/** The counts that one attempt adds to the progress of the run. */
type AttemptCounts = Pick<RunProgress, "chunks" | "child_chunks" | "documentsBegun" | "pagesExpected" | "pagesDone">;

const noCounts: AttemptCounts = { chunks: 0, child_chunks: 0, documentsBegun: 0, pagesExpected: 0, pagesDone: 0 };

/** Adds one attempt at a document to the progress of the run. `takeBack` subtracts it again. */
class AttemptProgress {
  readonly #progress: RunProgress;
  readonly #childChunks: Job["childChunks"];
  #added = noCounts;

  constructor(progress: RunProgress, childChunks: Job["childChunks"]) {
    this.#progress = progress;
    this.#childChunks = childChunks;
  }

  /** Updates the progress of the run. Returns how many pages and child lists of the document are left. */
  reach(howFar: HowFar): number {
    const counts = countsOf(howFar, this.#childChunks);
    this.#change(counts);
    return counts.pagesExpected - counts.pagesDone;
  }

  takeBack(): void {
    this.#change(noCounts);
  }

  #change(counts: AttemptCounts): void {
    this.#progress.chunks += counts.chunks - this.#added.chunks;
    this.#progress.child_chunks += counts.child_chunks - this.#added.child_chunks;
    this.#progress.documentsBegun += counts.documentsBegun - this.#added.documentsBegun;
    this.#progress.pagesExpected += counts.pagesExpected - this.#added.pagesExpected;
    this.#progress.pagesDone += counts.pagesDone - this.#added.pagesDone;
    this.#added = counts;
  }
}

/** Estimates the pages and child lists of a document, and counts those that are done. */
function countsOf({ chunks, children }: HowFar, childChunks: Job["childChunks"]): AttemptCounts {
  const { evidence, plan } = children;
  const auto = plan ? listCounts(evidence, plan) : forecastLists(evidence, chunks.total);
  const lists = childChunks === "auto" ? auto.asked : childChunks === "all" ? chunks.total : 0;
  const sampled = plan?.source === "embedded" ? sampleOf(evidence).length : 0;
  // Not every chunk has its list read, so the lists that are done are estimated in proportion.
  const done = sampled + Math.round((children.chunks * (lists - sampled)) / Math.max(1, chunks.total));
  return {
    chunks: chunks.rows,
    child_chunks: children.rows,
    documentsBegun: 1,
    pagesExpected: Math.max(1, pagesOf(chunks)) + lists,
    pagesDone: chunks.pages + done,
  };
}

/** Makes the rows of one document, counts unexpected types and finds evidence of edits. */
class DocumentRows {
  readonly #ref: DocumentRef;
  readonly #keepSignatures: boolean;
  readonly #drift: DriftCount;
  #edits: EditEvidence;

  /** `earlier`: from the rows that an earlier process read. */
  constructor(ref: DocumentRef, keepSignatures: boolean, earlier: Pick<ReadSoFar, "drift" | "edits"> | undefined) {
    this.#ref = ref;
    this.#keepSignatures = keepSignatures;
    this.#drift = new DriftCount(earlier?.drift);
    this.#edits = earlier?.edits ?? noEditEvidence;
  }

  get drift(): Drift {
    return this.#drift.drift;
  }

  get edits(): EditEvidence {
    return this.#edits;
  }

  /** Converts records to rows. `chunkId`: the parent of child chunks; undefined for chunks. */
  rowsFrom(kind: "chunks" | "child_chunks", records: readonly Listed[], chunkId: string | undefined): readonly Row[] {
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const parent = kind === "chunks" ? known : { ...known, segment_id: chunkId };
    const options = { keepSignatures: this.#keepSignatures, drift: this.#drift.add };
    this.#edits = withEvidence(this.#edits, kind, records);
    return records.map((record) => rowFromRecord(kind, record, parent, options));
  }
}

/** The error for a record that is nested too deeply to be serialized; undefined for other errors. It fails only this document. */
function tooDeep(error: unknown): SkipError | undefined {
  if (!(error instanceof RangeError)) return undefined;
  return new SkipError("a record is nested too deeply to be written", { cause: error });
}

/** Options for reading the documents of a run and storing their segments. */
export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the segments. */
  readonly segments: string;
  /** Stores complete small documents, several per file; undefined: every document gets its own files. */
  readonly shared?: SharedSegments<DocumentResult> | undefined;
  /** Names of the documents for which an earlier process left files. */
  readonly begun: ReadonlySet<string>;
  readonly prefetch: Prefetch;
  readonly progress: RunProgress;
  /** Whether to read documents again that an earlier process could not read completely. */
  readonly retryFailed: boolean;
  /** Give up with TooLargeError if a document has more pages and child lists than this; default: unlimited. */
  readonly mostPages?: number | undefined;
}

/** The document has more pages than the caller wants to read. */
export class TooLargeError extends Error {}

/** The progress of an earlier process on the document, and the ids of the chunks that it read. */
export interface Earlier {
  readonly read: ReadSoFar;
  readonly ids: IdSet;
}
