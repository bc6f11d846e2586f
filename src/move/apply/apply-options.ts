import type { KnowledgeApi } from "../../client/knowledge-api.js";
import type { Writer } from "../../client/write/writer.js";
import type { Log } from "../../log.js";
import type { ReadDocumentRows } from "../../restore/load-document-rows.js";
import type { MoveJournal } from "../journal/move-journal.js";
import type { DocumentPlan } from "../move-plan.js";
import type { MoveTally } from "../move-tally.js";
import type { BatchSize } from "./rows/batch-size.js";

export interface ApplyOptions {
  readonly api: KnowledgeApi;
  readonly writer: Writer;
  readonly journal: MoveJournal;
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
  readonly tally: MoveTally;
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
