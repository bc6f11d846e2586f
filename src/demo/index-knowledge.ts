import { shownStatus, statusFilter } from "./display-status.js";
import type { ChildChunk, Chunk, Dataset, Document, Knowledge, MetadataField, StatusEntry } from "./knowledge.js";
import { isAskedFor, nameOf, slice, withKeyword } from "./pick-rows.js";
import { notFound } from "./refusal.js";

/** The plain tree that a knowledge in memory is made from: datasets, their documents and batches, chunks, child chunks. */
export interface StoredDataset {
  readonly row: Dataset;
  readonly documents: readonly StoredDocument[];
  readonly batches: readonly Batch[];
}

export interface StoredDocument {
  readonly row: Document;
  readonly chunks: readonly StoredChunk[];
  /** Whether chunks embed their children, as those of paragraph parents do; by default, if one of them does. */
  readonly embedsChildren?: boolean;
}

/** `children` is what the child list answers; what the chunk embeds is `row.child_chunks`, and the two may differ. */
export interface StoredChunk {
  readonly row: Chunk;
  readonly children: readonly ChildChunk[];
}

/** The documents that were created in one go. `entries` is called at every read, so that a batch can move. */
export interface Batch {
  readonly id: string;
  entries(): readonly StatusEntry[];
}

/** The state of a tree at the moment. A document that did not change since it was last asked for is the same object. */
export interface Present {
  dataset(stored: StoredDataset): Dataset;
  document(stored: StoredDocument): StoredDocument;
}

/** A tree that never changes. */
const asStored: Present = { dataset: ({ row }) => row, document: (document) => document };

/** The built-in metadata fields, the same for every dataset. */
const metadataFields: readonly MetadataField[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];

interface IndexedDataset {
  readonly stored: StoredDataset;
  readonly documents: ReadonlyMap<string, StoredDocument>;
  readonly newestFirst: readonly StoredDocument[];
  readonly batches: ReadonlyMap<string, Batch>;
}

interface IndexedDocument {
  readonly row: Document;
  readonly chunks: readonly Chunk[];
  readonly children: ReadonlyMap<string, readonly ChildChunk[]>;
}

/**
 * A knowledge in memory over the datasets given. Everything is sorted and indexed by id once, so that no request searches;
 * only a keyword or a status filter looks at the rows of one list. Ids must be lower-case. A document is
 * indexed again where `present` gives another object than before.
 */
export function indexKnowledge(stored: readonly StoredDataset[], present: Present = asStored): Knowledge {
  const datasets = new Map(stored.map((dataset) => [dataset.row.id, indexDataset(dataset)]));
  const indexed = new WeakMap<StoredDocument, IndexedDocument>();

  const datasetOf = (id: string): IndexedDataset => found(datasets.get(id.toLowerCase()), "Dataset");
  const documentOf = (datasetId: string, id: string): IndexedDocument => {
    const document = present.document(found(datasetOf(datasetId).documents.get(id.toLowerCase()), "Document"));
    const index = indexed.get(document) ?? indexDocument(document);
    indexed.set(document, index);
    return index;
  };

  return {
    metadataFields(datasetId) {
      datasetOf(datasetId);
      return metadataFields;
    },
    chunks(datasetId, documentId, query) {
      const { row, chunks } = documentOf(datasetId, documentId);
      return { doc_form: row.doc_form, ...slice(chunks.filter(isAskedFor(query)), query) };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const children = found(documentOf(datasetId, documentId).children.get(chunkId.toLowerCase()), "Segment");
      return slice(
        withKeyword(children, ({ content }) => content, query),
        query,
      );
    },
    indexingStatus: (datasetId, batchId) => found(datasetOf(datasetId).batches.get(batchId), "Documents").entries(),
    datasets: (query) =>
      slice(
        withKeyword(
          stored.map((dataset) => present.dataset(dataset)),
          nameOf,
          query,
        ),
        query,
      ),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses) ?? (() => true);
      const all = datasetOf(datasetId).newestFirst.map((document) => present.document(document).row);
      const documents = all.filter((row) => isWanted(shownStatus(row)));
      return slice(withKeyword(documents, nameOf, query), query);
    },
    dataset: (id) => present.dataset(datasetOf(id).stored),
    document(datasetId, id) {
      const { row, chunks } = documentOf(datasetId, id);
      return { ...row, segment_count: chunks.length };
    },
    datasetMetadata(datasetId) {
      const { doc_metadata = [], built_in_field_enabled = false } = datasetOf(datasetId).stored.row;
      return { doc_metadata, built_in_field_enabled };
    },
  };
}

function indexDataset(stored: StoredDataset): IndexedDataset {
  const { documents, batches } = stored;
  return {
    stored,
    documents: new Map(documents.map((document) => [document.row.id, document])),
    newestFirst: documents.toSorted((a, b) => b.row.created_at - a.row.created_at),
    batches: new Map(batches.map((batch) => [batch.id, batch])),
  };
}

function indexDocument({ row, chunks }: StoredDocument): IndexedDocument {
  return {
    row,
    chunks: chunks.map((chunk) => chunk.row).sort(byPositionThenId),
    children: new Map(chunks.map((chunk) => [chunk.row.id, chunk.children.toSorted(byPositionThenId)])),
  };
}

interface Placed {
  readonly position: number;
  readonly id: string;
}

function byPositionThenId(a: Placed, b: Placed): number {
  if (a.position !== b.position) return a.position - b.position;
  return a.id < b.id ? -1 : 1;
}

function found<T>(value: T | undefined, what: Parameters<typeof notFound>[0]): T {
  if (value === undefined) throw notFound(what);
  return value;
}
