import { ChunkWrites } from "./chunk-writes.js";
import type { DocumentStore } from "./document-store.js";
import {
  type Details,
  type Knowledge,
  type Listed,
  type MetadataField,
  notFound,
  pageOf,
  shownStatus,
  statusFilter,
} from "./knowledge.js";
import { jsonReply, type Route, route } from "./routes.js";
import type { ChildChunk, Chunk, Dataset, StoredDocument } from "./rows.js";
import { signChunk } from "./sign-links.js";
import { reindexRoute, writeRoutes } from "./write-routes.js";

/** An in-memory knowledge base that changes: chunks can be written, and documents re-indexed. */
export interface DemoKnowledge {
  readonly reads: Knowledge;
  /** Its routes besides the reads. */
  readonly routes: readonly Route[];
  readonly writes: ChunkWrites;
  /** The current datasets and documents. */
  readonly store: DocumentStore;
}

/** A knowledge base on a store. The store's initial data stays unchanged. */
export function demoKnowledge(store: DocumentStore, writes = new ChunkWrites(store)): DemoKnowledge {
  const reads = storeKnowledge(store);
  const routes = [
    ...writeRoutes(writes, store),
    route("GET", "/v1/datasets/:dataset/tags", ({ id }) => {
      const { tags } = store.dataset(id("dataset"));
      const data = Array.isArray(tags) ? tags : [];
      return jsonReply(200, { data, total: data.length });
    }),
    reindexRoute(store),
  ];
  return { reads, routes, writes, store };
}

/** The reads of a store. Links are signed again on every read. */
function storeKnowledge(store: DocumentStore): Knowledge {
  return {
    metadataFields(datasetId) {
      store.dataset(datasetId);
      return builtInFields;
    },
    chunks(datasetId, documentId, query) {
      const { row, chunks } = store.readIn(datasetId, documentId);
      const wanted = new Set(query.statuses);
      const all = chunks.map((chunk) => chunk.row).sort(byPositionThenId);
      const { rows, total } = pageOf(
        wanted.size === 0 ? all : all.filter(({ status }) => wanted.has(status)),
        query,
        contentOf,
      );
      return { doc_form: row.doc_form, rows: rows.map((chunk) => signChunk(chunk, store.now())), total };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const { chunks } = store.readIn(datasetId, documentId);
      const parent = chunks.find(({ row }) => row.id === chunkId.toLowerCase());
      if (!parent) throw notFound("Segment");
      return pageOf(parent.children.toSorted(byPositionThenId), query, contentOf);
    },
    indexingStatus: (datasetId, batchId) => store.statusEntries(datasetId, batchId),
    datasets: (query) => pageOf(store.datasets().map(withBuiltInFields), query, nameOf),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses) ?? (() => true);
      const dataset = store.dataset(datasetId);
      const rows = store.documents(datasetId).map((document) => withBuiltInValues(document, dataset));
      return pageOf(
        rows.filter((row) => isWanted(shownStatus(row))),
        query,
        nameOf,
      );
    },
    dataset: (id) => withBuiltInFields(store.dataset(id)),
    document(datasetId, id) {
      const document = store.readIn(datasetId, id);
      const { row, details, chunks } = document;
      const average_segment_length = Math.floor(Number(row.word_count ?? 0) / Math.max(1, chunks.length));
      const shown = withBuiltInValues(document, store.dataset(datasetId));
      return { ...shown, ...details, segment_count: chunks.length, average_segment_length };
    },
    datasetMetadata(datasetId) {
      const { doc_metadata = [], built_in_field_enabled = false } = store.dataset(datasetId);
      return { doc_metadata, built_in_field_enabled };
    },
  };
}

function contentOf({ content }: Listed): unknown {
  return content;
}

function nameOf({ name }: Listed): unknown {
  return name;
}

function byPositionThenId(a: Chunk | ChildChunk, b: Chunk | ChildChunk): number {
  if (a.position !== b.position) return a.position - b.position;
  return a.id < b.id ? -1 : 1;
}

/** The built-in metadata fields, the same for every dataset. */
export const builtInFields: readonly MetadataField[] = [
  { name: "document_name", type: "string" },
  { name: "uploader", type: "string" },
  { name: "upload_date", type: "time" },
  { name: "last_update_date", type: "time" },
  { name: "source", type: "string" },
];

/** The id that the service gives to each built-in field, instead of a unique one. */
const builtIn = "built-in";

/** The dataset for an answer: its own metadata fields, then the built-in ones if enabled. */
function withBuiltInFields(dataset: Dataset): Dataset {
  const { doc_metadata, built_in_field_enabled } = dataset;
  if (built_in_field_enabled !== true || !Array.isArray(doc_metadata)) return dataset;
  return { ...dataset, doc_metadata: [...doc_metadata, ...builtInFields.map((field) => ({ id: builtIn, ...field }))] };
}

/**
 * The row of a document for an answer: its own metadata values, then the built-in ones if its dataset has enabled them or it has own
 * values. Times are strings, as in the service.
 */
function withBuiltInValues({ row, details }: StoredDocument, dataset: Dataset): Listed {
  const { doc_metadata, created_at, name } = row;
  const { built_in_field_enabled, author_name = null } = dataset;
  if (!Array.isArray(doc_metadata) || (built_in_field_enabled !== true && doc_metadata.length === 0)) return row;
  const updatedAt = Number(details?.updated_at ?? created_at);
  const values = [name, author_name, timeText(created_at), timeText(updatedAt), "file_upload"];
  const shown = builtInFields.map((field, index): Details => ({ id: builtIn, ...field, value: values[index] }));
  return { ...row, doc_metadata: [...doc_metadata, ...shown] };
}

/** Seconds with a fraction, in Python's format. */
function timeText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}.0` : String(seconds);
}
