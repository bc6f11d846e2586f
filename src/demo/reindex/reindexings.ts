import { notFound, Refusal } from "../refusal.js";
import type { Batch, StoredDataset } from "../stored-dataset.js";
import { reindexedDocument } from "./reindexed-document.js";
import { type ReindexingDocument, type ReindexingMoment, reindexingAt, stepAt } from "./reindexing-at.js";

/** What whoever has a document indexed anew is told: nothing else says which batch that is. */
export interface Reindexing {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly batch: string;
}

/** The documents that are being indexed anew, or were, since the service was started. */
export class Reindexings {
  readonly #stored: readonly StoredDataset[];
  readonly #clock: () => Date;
  /** Every one that was begun, in order. */
  readonly #begun: Reindexing[] = [];
  /** The newest of each document, by its id. */
  readonly #newest = new Map<string, ReindexingDocument>();

  constructor(stored: readonly StoredDataset[], clock: () => Date) {
    this.#stored = stored;
    this.#clock = clock;
  }

  /** Begins one that takes so many seconds. Throws a 404 for an unknown document, a 400 for one that is being indexed. */
  begin(documentId: string, seconds: number): Reindexing {
    const { datasetId, before } = this.#documentNow(documentId);
    const startedAt = Math.floor(this.#now());
    const generation = this.#begun.filter(({ document_id }) => document_id === documentId).length + 1;
    const after = reindexedDocument(before, { generation, startedAt });
    const reindexing = { dataset_id: datasetId, document_id: documentId, batch: this.#newBatch() };
    this.#newest.set(documentId, { before, after, startedAt: this.#now(), seconds });
    this.#begun.push(reindexing);
    return reindexing;
  }

  /** Changes whenever there is something new to be seen. */
  step(): string {
    return [this.#begun.length, ...[...this.#newest.values()].map((each) => stepAt(each, this.#now()))].join();
  }

  /** What there is to be seen of a document now; undefined where it never was indexed anew. */
  momentOf(documentId: string): ReindexingMoment | undefined {
    const reindexing = this.#newest.get(documentId);
    return reindexing && reindexingAt(reindexing, stepAt(reindexing, this.#now()));
  }

  /** The batches that came to a dataset, one for every re-indexing. */
  batchesOf(datasetId: string): readonly Batch[] {
    return this.#begun
      .filter(({ dataset_id }) => dataset_id === datasetId)
      .map(({ batch, document_id }) => ({
        id: batch,
        entries: () => [this.momentOf(document_id)].flatMap((moment) => (moment ? [moment.entry] : [])),
      }));
  }

  #documentNow(documentId: string) {
    for (const { row, documents } of this.#stored) {
      const stored = documents.find((document) => document.row.id === documentId);
      if (!stored) continue;
      const moment = this.momentOf(documentId);
      if (moment && moment.entry.indexing_status !== "completed") throw beingIndexed();
      return { datasetId: row.id, before: moment?.document ?? stored };
    }
    throw notFound("Document");
  }

  /** The time, as batches are named after, and a number that tells apart those of one second. */
  #newBatch(): string {
    const time = this.#clock().toISOString().slice(0, 19).replace(/\D/g, "");
    return `${time}${String(this.#begun.length + 1).padStart(6, "0")}`;
  }

  #now(): number {
    return this.#clock().getTime() / 1000;
  }
}

/** The answer of the service that this one stands in for. */
function beingIndexed(): Refusal {
  return new Refusal(400, "document_indexing", "Cannot operate document during indexing.");
}
