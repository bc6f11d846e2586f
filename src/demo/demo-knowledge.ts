import { ChunkWrites, type ParentIds } from "./chunk-writes.js";
import { type DocumentStore, reindexRoute } from "./document-store.js";
import { fileRoutes, signChunk } from "./files.js";
import type { Knowledge, Listed } from "./knowledge.js";
import { addRequest, bodyOf, changeRequest, childRequest } from "./requests.js";
import { type Asked, jsonReply, noContent, type Route, route } from "./routes.js";
import { storeKnowledge } from "./store-knowledge.js";

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
    ...fileRoutes(reads, store),
    route("GET", "/v1/datasets/:dataset/tags", ({ id }) => {
      const { tags } = store.dataset(id("dataset"));
      const data = Array.isArray(tags) ? tags : [];
      return jsonReply(200, { data, total: data.length });
    }),
    reindexRoute(store),
  ];
  return { reads, routes, writes, store };
}

const segments = "/v1/datasets/:dataset/documents/:document/segments";

/** The routes for writing chunks and child chunks, and for reading a single chunk. */
function writeRoutes(writes: ChunkWrites, store: DocumentStore): readonly Route[] {
  const segment = `${segments}/:segment`;
  const children = `${segment}/child_chunks`;
  const child = `${children}/:child`;
  const shown = (chunk: Listed) => signChunk(chunk, store.now());
  return [
    route("POST", segments, async (asked) => {
      const { segments } = await bodyOf(addRequest, asked);
      const { data, doc_form } = writes.addChunks(asked.id("dataset"), asked.id("document"), segments);
      return jsonReply(200, { data: data.map(shown), doc_form });
    }),
    route("GET", segment, async ({ id }) => {
      const { data, doc_form } = writes.readChunk(id("dataset"), id("document"), id("segment"));
      return jsonReply(200, { data: shown(data), doc_form });
    }),
    route("POST", segment, async (asked) => {
      const { segment } = await bodyOf(changeRequest, asked);
      const { datasetId, documentId, chunkId } = parentOf(asked);
      const { data, doc_form } = writes.updateChunk(datasetId, documentId, chunkId, segment);
      return jsonReply(200, { data: shown(data), doc_form });
    }),
    route("DELETE", segment, async ({ id }) => {
      writes.deleteChunk(id("dataset"), id("document"), id("segment"));
      return noContent;
    }),
    route("POST", children, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.addChild(parentOf(asked), content) });
    }),
    route("PATCH", child, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.updateChild(parentOf(asked), asked.id("child"), content) });
    }),
    route("DELETE", child, async (asked) => {
      writes.deleteChild(parentOf(asked), asked.id("child"));
      return noContent;
    }),
  ];
}

function parentOf({ id }: Asked): ParentIds {
  return { datasetId: id("dataset"), documentId: id("document"), chunkId: id("segment") };
}
