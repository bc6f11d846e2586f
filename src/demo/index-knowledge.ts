import { shownStatus, statusFilter } from "./display-status.js";
import type { ChildChunk, Chunk, Dataset, Document, Knowledge, ListQuery, Slice, StatusQuery } from "./knowledge.js";
import { metadataFields } from "./metadata-fields.js";
import { notFound } from "./refusal.js";
import type { Batch, StoredDataset, StoredDocument } from "./stored-dataset.js";

interface IndexedDataset {
  readonly row: Dataset;
  readonly documents: ReadonlyMap<string, IndexedDocument>;
  readonly newestFirst: readonly Document[];
  readonly batches: ReadonlyMap<string, Batch>;
}

interface IndexedDocument {
  readonly row: Document;
  readonly doc_form: string;
  readonly chunks: readonly Chunk[];
  readonly children: ReadonlyMap<string, readonly ChildChunk[]>;
}

/**
 * A knowledge in memory over the datasets given. Everything is sorted and indexed by id once, here, so that no request
 * searches; only a keyword or a status filter looks at the rows of one list. Ids must be lower-case.
 */
export function indexKnowledge(stored: readonly StoredDataset[]): Knowledge {
  const rows = stored.map(({ row }) => row);
  const datasets = new Map(stored.map((dataset) => [dataset.row.id, indexDataset(dataset)]));

  const datasetOf = (id: string): IndexedDataset => found(datasets.get(id.toLowerCase()), "Dataset");
  const documentOf = (datasetId: string, id: string): IndexedDocument =>
    found(datasetOf(datasetId).documents.get(id.toLowerCase()), "Document");

  return {
    metadataFields(datasetId) {
      datasetOf(datasetId);
      return metadataFields;
    },
    chunks(datasetId, documentId, query) {
      const { doc_form, chunks } = documentOf(datasetId, documentId);
      return { doc_form, ...slice(chunks.filter(isAskedFor(query)), query) };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const children = found(documentOf(datasetId, documentId).children.get(chunkId.toLowerCase()), "Segment");
      return slice(
        withKeyword(children, ({ content }) => content, query),
        query,
      );
    },
    indexingStatus: (datasetId, batchId) => found(datasetOf(datasetId).batches.get(batchId), "Documents").entries(),
    datasets: (query) => slice(withKeyword(rows, nameOf, query), query),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses) ?? (() => true);
      const documents = datasetOf(datasetId).newestFirst.filter((row) => isWanted(shownStatus(row)));
      return slice(withKeyword(documents, nameOf, query), query);
    },
    dataset: (id) => datasetOf(id).row,
    document(datasetId, id) {
      const { row, chunks } = documentOf(datasetId, id);
      return { ...row, segment_count: chunks.length };
    },
    datasetMetadata(datasetId) {
      const { doc_metadata = [], built_in_field_enabled = false } = datasetOf(datasetId).row;
      return { doc_metadata, built_in_field_enabled };
    },
  };
}

function indexDataset({ row, documents, batches }: StoredDataset): IndexedDataset {
  return {
    row,
    documents: new Map(documents.map((document) => [document.row.id, indexDocument(document)])),
    newestFirst: documents.map((document) => document.row).sort((a, b) => b.created_at - a.created_at),
    batches: new Map(batches.map((batch) => [batch.id, batch])),
  };
}

function indexDocument({ row, chunks }: StoredDocument): IndexedDocument {
  return {
    row,
    doc_form: row.doc_form,
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

function slice<Row>(rows: readonly Row[], { page, limit }: ListQuery): Slice<Row> {
  return { rows: rows.slice((page - 1) * limit, page * limit), total: rows.length };
}

function isAskedFor({ statuses, keyword }: StatusQuery): (chunk: Chunk) => boolean {
  const wanted = new Set(statuses);
  const part = keyword.toLowerCase();
  return ({ status, content }) =>
    (wanted.size === 0 || wanted.has(status)) && (part === "" || content.toLowerCase().includes(part));
}

function withKeyword<Row>(rows: readonly Row[], textOf: (row: Row) => string, { keyword }: ListQuery): readonly Row[] {
  const part = keyword.toLowerCase();
  return part === "" ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(part));
}

function nameOf({ name }: Dataset | Document): string {
  return name;
}
