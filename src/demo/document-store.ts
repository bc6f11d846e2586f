import { beginIndexing, documentAt, entryAt, type IndexingJob, isOver, type Source, sourceOf } from "./indexing.js";
import { type Listed, notFound, Refusal, shownStatus } from "./knowledge.js";
import {
  type Batch,
  type Dataset,
  known,
  type StoredChunk,
  type StoredDataset,
  type StoredDocument,
  sumOf,
} from "./rows.js";

/** A chunk and its document. */
export interface Located {
  readonly dataset: Dataset;
  readonly document: StoredDocument;
  readonly chunk: StoredChunk;
}

/** A dataset of the store. Its row is replaced, never modified. */
export interface HeldDataset {
  row: Dataset;
  readonly documents: Map<string, HeldDocument>;
  readonly batches: Map<string, Batch>;
}

/** A document of the store. Its versions are replaced, never modified. */
export interface HeldDocument {
  readonly dataset: HeldDataset;
  version: StoredDocument;
  /** The text from which a re-index makes new chunks. Writes to chunks do not change it. */
  source: Source;
  /** The newest indexing that this store started. */
  job?: IndexingJob;
}

/**
 * The current datasets and documents: writes replace chunks, and indexing rebuilds documents over time. Ids may be in upper case.
 * Throws a 404 for an unknown dataset or document. A document that has not changed since the last call is the same object.
 */
export class DocumentStore {
  /** The datasets by id, in the order in which they are listed. */
  protected held: Map<string, HeldDataset>;
  readonly #clock: () => Date;
  #jobs = 0;

  constructor(datasets: readonly StoredDataset[], clock: () => Date) {
    this.#clock = clock;
    this.held = new Map(datasets.map((dataset) => [dataset.row.id, heldDataset(dataset)]));
  }

  /** The time of the store, in Unix seconds with a fraction. */
  now(): number {
    return this.#clock().getTime() / 1000;
  }

  datasets(): readonly Dataset[] {
    return [...this.held.keys()].map((id) => this.dataset(id));
  }

  /** The row of a dataset, with the current counts of its documents. */
  dataset(datasetId: string): Dataset {
    const { row } = this.findDataset(datasetId);
    const rows = this.documents(datasetId).map((document) => document.row);
    const counts = {
      word_count: sumOf(rows, "word_count"),
      document_count: rows.length,
      total_documents: rows.length,
      total_available_documents: rows.filter((document) => shownStatus(document) === "available").length,
      doc_form: rows.at(-1)?.doc_form ?? null,
    };
    return { ...row, ...known(counts, row) };
  }

  /** The documents of a dataset, newest first. */
  documents(datasetId: string): readonly StoredDocument[] {
    const documents = [...this.findDataset(datasetId).documents.values()].map((held) => this.#present(held));
    const position = ({ row }: StoredDocument) => Number(row.position ?? 0);
    return documents.sort((a, b) => b.row.created_at - a.row.created_at || position(b) - position(a));
  }

  /** The document as it is now. Throws a 404 if the dataset does not have it. */
  readIn(datasetId: string, documentId: string): StoredDocument {
    const held = this.findDataset(datasetId).documents.get(documentId.toLowerCase());
    if (!held) throw notFound("Document");
    return this.#present(held);
  }

  /** The entries of a batch. A document that was indexed again since shows its newest indexing. */
  statusEntries(datasetId: string, batch: string): readonly Listed[] {
    const { documents, batches } = this.findDataset(datasetId);
    const entries = (batches.get(batch)?.entries() ?? []).filter(({ id }) => documents.has(id));
    if (entries.length === 0) throw notFound("Documents");
    return entries.map((entry) => {
      const job = documents.get(entry.id)?.job;
      return job ? entryAt(job, this.now()) : entry;
    });
  }

  /** A chunk of any document. Throws a 404 if unknown. */
  locate(chunkId: string): Located {
    const id = chunkId.toLowerCase();
    for (const { row: dataset, documents } of this.held.values())
      for (const held of documents.values()) {
        const document = this.#present(held);
        const chunk = document.chunks.find(({ row }) => row.id === id);
        if (chunk) return { dataset, document, chunk };
      }
    throw notFound("Segment");
  }

  /** Replaces a document. Throws a 400 while it is being indexed. */
  write(version: StoredDocument): void {
    this.checkIdle(version.row.id);
    this.find(version.row.id).version = version;
  }

  /** Replaces a document's chunks and counts. Throws a 400 while it is being indexed. */
  writeChunks(document: StoredDocument, chunks: readonly StoredChunk[]): void {
    const rows = chunks.map(({ row }) => row);
    const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count") };
    this.write({ ...document, row: { ...document.row, ...known(counts, document.row) }, chunks });
  }

  /** Replaces a chunk of a document. Throws a 400 while it is being indexed. */
  writeChunk(document: StoredDocument, chunk: StoredChunk): void {
    const chunks = document.chunks.map((each) => (each.row.id === chunk.row.id ? chunk : each));
    this.writeChunks(document, chunks);
  }

  /** Throws a 400 while the document is being indexed. */
  checkIdle(documentId: string): void {
    const { job } = this.find(documentId);
    if (job && !isOver(job, this.now()))
      throw new Refusal(400, "document_indexing", "Cannot operate document during indexing.");
  }

  /**
   * Starts to index a document again, and returns the batch, which no other answer contains. Stores the new version at once, but
   * `#present` hides it until the indexing ends. Throws a 404 for an unknown document, a 400 while it is being indexed.
   */
  reindex(documentId: string, { seconds }: { readonly seconds: number }) {
    this.checkIdle(documentId);
    const held = this.find(documentId);
    const { version: before, dataset, source } = held;
    const startedAt = this.now();
    const second = new Date(startedAt * 1000).toISOString().slice(0, 19).replace(/\D/g, "");
    const batch = second + String(++this.#jobs).padStart(6, "0"); // several may begin in one second
    const generation = (held.job?.generation ?? 0) + 1;
    const job = beginIndexing(before, source, { batch, generation, startedAt, seconds });
    dataset.batches.set(batch, { id: batch, entries: () => [entryAt(job, this.now())] });
    held.job = job;
    held.version = job.after;
    return { dataset_id: dataset.row.id, document_id: before.row.id, batch };
  }

  protected findDataset(datasetId: string): HeldDataset {
    const held = this.held.get(datasetId.toLowerCase());
    if (!held) throw notFound("Dataset");
    return held;
  }

  protected find(documentId: string): HeldDocument {
    const id = documentId.toLowerCase();
    const held = [...this.held.values()].flatMap(({ documents }) => documents.get(id) ?? [])[0];
    if (!held) throw notFound("Document");
    return held;
  }

  #present(held: HeldDocument): StoredDocument {
    return held.job && !isOver(held.job, this.now()) ? documentAt(held.job, this.now()) : held.version;
  }
}

/** Converts a stored dataset to one with documents that can change. */
function heldDataset({ row, documents, batches }: StoredDataset): HeldDataset {
  const dataset: HeldDataset = { row, documents: new Map(), batches: new Map(batches.map((each) => [each.id, each])) };
  for (const document of documents)
    dataset.documents.set(document.row.id, { dataset, version: document, source: sourceOf(document) });
  return dataset;
}
