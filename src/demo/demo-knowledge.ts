import type { DocumentStore } from "./document-store.js";
import { type Knowledge, notFound, pageOf, shownStatus, statusFilter } from "./knowledge.js";
import { jsonReply, type Route, route } from "./routes.js";
import { builtInFields, type ChildChunk, type Chunk } from "./rows.js";
import { ChunkWrites, reindexRoute, writeRoutes } from "./write-routes.js";

/** An in-memory knowledge base that changes: chunks can be written, and documents re-indexed. */
export type DemoKnowledge = ReturnType<typeof demoKnowledge>;

/** A knowledge base on a store: its reads, its other routes, and its writes. The store's initial data stays unchanged. */
export function demoKnowledge(store: DocumentStore, writes = new ChunkWrites(store)) {
  const reads = storeKnowledge(store);
  const routes: readonly Route[] = [
    ...writeRoutes(writes, store),
    route("GET", "/v1/datasets/:dataset/tags", ({ id }) => {
      store.dataset(id("dataset"));
      return jsonReply(200, { data: [], total: 0 });
    }),
    reindexRoute(store),
  ];
  return { reads, routes, writes, store };
}

/** The read operations of the service, answered from a store. */
function storeKnowledge(store: DocumentStore): Knowledge {
  return {
    metadataFields(datasetId) {
      store.dataset(datasetId);
      return builtInFields.map(({ name, type }) => ({ name, type }));
    },
    chunks(datasetId, documentId, query) {
      const { row, chunks } = store.readIn(datasetId, documentId);
      const all = chunks.map((chunk) => chunk.row).sort(byPositionThenId);
      const wanted = all.filter(({ status }) => query.statuses.length === 0 || query.statuses.includes(status));
      return { doc_form: row.doc_form, ...pageOf(wanted, query, ({ content }) => content) };
    },
    childChunks(datasetId, documentId, chunkId, query) {
      const { chunks } = store.readIn(datasetId, documentId);
      const parent = chunks.find(({ row }) => row.id === chunkId.toLowerCase());
      if (!parent) throw notFound("Segment");
      return pageOf(parent.children.toSorted(byPositionThenId), query, ({ content }) => content);
    },
    indexingStatus: (datasetId, batchId) => store.statusEntries(datasetId, batchId),
    datasets: (query) => pageOf(store.datasets(), query, ({ name }) => name),
    documents(datasetId, query) {
      const isWanted = statusFilter(query.statuses);
      const rows = store.documents(datasetId).map(({ row }) => row);
      const wanted = rows.filter((row) => isWanted(shownStatus(row)));
      return pageOf(wanted, query, ({ name }) => name);
    },
    dataset: (id) => store.dataset(id),
    document(datasetId, id) {
      const { row, details, chunks } = store.readIn(datasetId, id);
      const average_segment_length = Math.floor(Number(row.word_count ?? 0) / Math.max(1, chunks.length));
      return { ...row, ...details, segment_count: chunks.length, average_segment_length };
    },
    datasetMetadata(datasetId) {
      const { built_in_field_enabled = false } = store.dataset(datasetId);
      return { doc_metadata: [], built_in_field_enabled };
    },
  };
}

function byPositionThenId(a: Chunk | ChildChunk, b: Chunk | ChildChunk): number {
  if (a.position !== b.position) return a.position - b.position;
  return a.id < b.id ? -1 : 1;
}
