import { shownStatus, statusFilter } from "./display-status.js";
import type { ChildChunk, Chunk, Dataset, Document, Knowledge, StatusEntry } from "./knowledge.js";
import { builtInFields, countedFields, withBuiltInFields, withBuiltInValues } from "./metadata-fields.js";
import { isAskedFor, nameOf, slice, withKeyword } from "./pick-rows.js";
import { notFound } from "./refusal.js";
import type { DocumentDetails } from "./store/new-document.js";

/** The plain tree that a knowledge in memory is made from: datasets, their documents and batches, chunks, child chunks. */
export interface StoredDataset {
  readonly row: Dataset;
  readonly documents: readonly StoredDocument[];
  readonly batches: readonly Batch[];
}

export interface StoredDocument {
  readonly row: Document;
  /** The facts that the list of documents does not tell, where they are known. */
  readonly details?: DocumentDetails;
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

/**
 * The datasets and documents that are there at the moment, found by ids in any case. A document that did not change since it was last
 * asked for is the same object. Every method throws `notFound` for an id that is not there.
 */
export interface Present {
  datasets(): readonly Dataset[];
  dataset(datasetId: string): Dataset;
  /** Newest first. */
  documents(datasetId: string): readonly StoredDocument[];
  readIn(datasetId: string, documentId: string): StoredDocument;
  statusEntries(datasetId: string, batchId: string): readonly StatusEntry[];
}

interface IndexedDocument extends Pick<StoredDocument, "row" | "details"> {
  readonly chunks: readonly Chunk[];
  readonly children: ReadonlyMap<string, readonly ChildChunk[]>;
}

/**
 * A knowledge in memory. The chunks of a document are sorted and indexed by id when it is first asked for, and again after it changed,
 * so that no request searches; only a keyword or a status filter looks at the rows of one list.
 */
export function indexKnowledge(present: Present): Knowledge {
  const indexed = new WeakMap<StoredDocument, IndexedDocument>();

  const documentOf = (datasetId: string, id: string): IndexedDocument => {
    const document = present.readIn(datasetId, id);
    const index = indexed.get(document) ?? indexDocument(document);
    indexed.set(document, index);
    return index;
  };

  return {
    metadataFields(datasetId) {
      present.dataset(datasetId);
      return builtInFields;
    },
    chunks(datasetId, documentId, query) {
      const { row, chunks } = documentOf(datasetId, documentId);
      return { doc_form: row.doc_form, ...slice(chunks.filter(isAskedFor(query)), query) };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const children = documentOf(datasetId, documentId).children.get(chunkId.toLowerCase());
      if (!children) throw notFound("Segment");
      return slice(
        withKeyword(children, ({ content }) => content, query),
        query,
      );
    },
    indexingStatus: (datasetId, batchId) => present.statusEntries(datasetId, batchId),
    datasets: (query) => slice(withKeyword(present.datasets().map(withBuiltInFields), nameOf, query), query),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses) ?? (() => true);
      const dataset = present.dataset(datasetId);
      const rows = present.documents(datasetId).map(({ row, details }) => withBuiltInValues(row, details, dataset));
      const documents = rows.filter((row) => isWanted(shownStatus(row)));
      return slice(withKeyword(documents, nameOf, query), query);
    },
    dataset: (id) => withBuiltInFields(present.dataset(id)),
    document(datasetId, id) {
      const { row, details, chunks } = documentOf(datasetId, id);
      const shown = withBuiltInValues(row, details, present.dataset(datasetId));
      const average_segment_length = Math.floor(Number(row.word_count ?? 0) / Math.max(1, chunks.length));
      return { ...shown, ...details, segment_count: chunks.length, average_segment_length };
    },
    datasetMetadata(datasetId) {
      const dataset = present.dataset(datasetId);
      const rows = present.documents(datasetId).map(({ row }) => row);
      const doc_metadata = countedFields(dataset, rows);
      return { doc_metadata, built_in_field_enabled: dataset.built_in_field_enabled ?? false };
    },
  };
}

function indexDocument({ row, details, chunks }: StoredDocument): IndexedDocument {
  return {
    row,
    ...(details && { details }),
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
