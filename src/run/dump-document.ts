import type { DocumentRef, KnowledgeApi } from "../client/knowledge-api.js";
import { type Batch, type CrawlOptions, crawlDocument } from "../crawl/crawl-document.js";
import { SkipError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { Kind } from "../normalise/columns.js";
import type { DocumentRow } from "../normalise/document-row.js";
import { rowFromRecord } from "../normalise/row-from-record.js";
import type { TextFormat } from "../sinks/sink.js";
import { DocumentParts } from "./document-parts.js";
import type { RunTally } from "./run-tally.js";

/** What one document came to: its row, and its drift by `kind.field`. Its rows lie in its parts. */
export interface DocumentResult {
  readonly row: DocumentRow;
  readonly drift: Readonly<Record<string, number>>;
}

export interface DumpOptions {
  readonly job: Job;
  readonly formats: readonly TextFormat[];
  /** The folder of the parts. */
  readonly parts: string;
  readonly lookAhead: CrawlOptions["lookAhead"];
  readonly tally: RunTally;
}

/** Times that a document is read before it is taken as it is. */
const reads = 3;

class MovedError extends Error {}

/**
 * Reads one document into its parts. A document that moves while it is read is read again, three times in all; then it
 * is `unstable`, and has what there was, each id once. One that cannot be read is `failed` and has no rows.
 */
export async function dumpDocument(
  api: KnowledgeApi,
  ref: DocumentRef,
  name: string,
  options: DumpOptions,
): Promise<DocumentResult> {
  for (let sweep = 1; ; sweep++) {
    const attempt = new DocumentAttempt(ref, name, options);
    const problems: string[] = [];
    const problem = (text: string) => {
      if (sweep < reads) throw new MovedError(text);
      problems.push(text);
    };
    try {
      await attempt.read(api, problem);
      return attempt.result(
        sweep,
        problems.length > 0 ? "unstable" : "complete",
        problems.slice(0, 5).join("; ") || null,
      );
    } catch (error) {
      await attempt.discard();
      if (error instanceof MovedError) continue;
      if (error instanceof SkipError) return attempt.result(sweep, "failed", error.message);
      throw error;
    }
  }
}

/** One reading of a document. */
class DocumentAttempt {
  readonly #ref: DocumentRef;
  readonly #options: DumpOptions;
  readonly #parts: DocumentParts;
  readonly #counts = { chunks: 0, child_chunks: 0 };
  readonly #drift: Record<string, number> = {};
  readonly #pages = { expected: 0, done: 0 };
  #docForm: string | null = null;
  #total: number | null = null;

  constructor(ref: DocumentRef, name: string, options: DumpOptions) {
    this.#ref = ref;
    this.#options = options;
    this.#parts = new DocumentParts(options.parts, name, options.formats);
  }

  async read(api: KnowledgeApi, problem: (text: string) => void): Promise<void> {
    const { job, lookAhead } = this.#options;
    const rowOptions = { keepSignatures: job.output.keepSignatures, drift: this.#countDrift };
    const known = { dataset_id: this.#ref.datasetId, document_id: this.#ref.documentId };
    const childChunks = job.childChunks === "none" ? "none" : "all";
    for await (const batch of crawlDocument(api, this.#ref, { childChunks, lookAhead, problem })) {
      const parent = batch.kind === "chunks" ? known : { ...known, segment_id: batch.chunkId };
      const rows = batch.records.map((record) => rowFromRecord(batch.kind, record, parent, rowOptions));
      this.#count(batch, childChunks === "all");
      await this.#parts.write(batch.kind, rows);
    }
    await this.#parts.close();
  }

  /** Takes back what was written and counted. */
  async discard(): Promise<void> {
    const { tally } = this.#options;
    await this.#parts.discard();
    tally.chunks -= this.#counts.chunks;
    tally.child_chunks -= this.#counts.child_chunks;
    tally.pagesExpected -= this.#pages.expected;
    tally.pagesDone -= this.#pages.done;
    if (this.#pages.done > 0) tally.documentsBegun--;
    Object.assign(this.#counts, { chunks: 0, child_chunks: 0 });
  }

  #count(batch: Batch, childLists: boolean): void {
    const { tally } = this.#options;
    const rows = batch.records.length;
    if (batch.kind === "chunks") {
      this.#docForm = batch.docForm ?? this.#docForm;
      this.#total = batch.total;
    }
    if (batch.kind === "chunks" && this.#pages.done === 0) {
      this.#pages.expected = Math.ceil(batch.total / Math.max(rows, 1)) + (childLists ? batch.total : 0);
      tally.pagesExpected += this.#pages.expected;
      tally.documentsBegun++;
    }
    this.#pages.done++;
    tally.pagesDone++;
    this.#counts[batch.kind] += rows;
    tally[batch.kind] += rows;
  }

  result(sweeps: number, status: DocumentRow["status"], error: string | null): DocumentResult {
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
    return { row, drift: status === "failed" ? {} : this.#drift };
  }

  readonly #countDrift = (kind: Kind, field: string): void => {
    const name = `${kind}.${field}`;
    this.#drift[name] = (this.#drift[name] ?? 0) + 1;
  };
}
