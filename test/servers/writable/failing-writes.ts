import { type AddedChunk, type ChunkChange, ChunkWrites, type ParentIds } from "../../../src/demo/chunk-writes.js";
import type { DocumentStore } from "../../../src/demo/document-store.js";
import { invalidParam, Refusal } from "../../../src/demo/knowledge.js";
import type { Chunk } from "../../../src/demo/rows.js";

/** How the service handles writes to chunks. */
export interface FailingOptions {
  /** Maximum chunks to add per request. Default 0: no limit. */
  readonly maxPerRequest?: number;
  /** Whether indexing a chunk with this content fails. Default: never. */
  readonly embeddingFails?: (content: string) => boolean;
  /** Whether indexing a child chunk with this content fails. Default: never. */
  readonly childIndexFails?: (content: string) => boolean;
  /** Seconds for which a chunk accepts no other write after a request that changed `enabled`. Default 600. */
  readonly indexingSeconds?: number;
}

/** Writes to chunks with a limit per request, and with embeddings that may fail. */
export class FailingWrites extends ChunkWrites {
  readonly #options: Required<Omit<FailingOptions, "indexingSeconds">>;

  constructor(store: DocumentStore, options: FailingOptions = {}) {
    super(store, options.indexingSeconds);
    const none = () => false;
    const { maxPerRequest = 0, embeddingFails = none, childIndexFails = none } = options;
    this.#options = { maxPerRequest, embeddingFails, childIndexFails };
  }

  /** The chunks of a request fail together. They are stored, but disabled. */
  override addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]) {
    const most = this.#options.maxPerRequest;
    if (most > 0 && added.length > most) throw invalidParam(`Exceeded maximum segments limit of ${most}.`);
    const rows = super.addChunks(datasetId, documentId, added);
    if (!rows.map(({ content }) => this.#options.embeddingFails(content)).some((fails) => fails)) return rows;
    const document = this.store.readIn(datasetId, documentId);
    const failed = rows.map((row) => this.#failed({ ...row, child_chunks: [] }));
    const kept = document.chunks.slice(0, -failed.length);
    this.store.writeChunks(document, [...kept, ...failed.map((row) => ({ row, children: [] }))]);
    return failed;
  }

  override updateChunk(datasetId: string, documentId: string, chunkId: string, change: ChunkChange) {
    const before = this.store.locate(chunkId).chunk;
    const row = super.updateChunk(datasetId, documentId, chunkId, change);
    const { content, keywords, enabled } = row;
    const isOther = content !== before.row.content || String(keywords) !== String(before.row.keywords);
    const isIndexed = enabled !== false && (isOther || change.enabled === true);
    if (!isIndexed || !this.#options.embeddingFails(content)) return row;
    const failed = this.#failed({ ...row, child_chunks: before.row.child_chunks });
    this.store.writeChunk(this.store.locate(chunkId).document, { ...before, row: failed });
    return failed;
  }

  override addChild(place: ParentIds, content: string) {
    return this.#unlessFailing(content, () => super.addChild(place, content));
  }

  override updateChild(place: ParentIds, childId: string, content: string) {
    return this.#unlessFailing(content, () => super.updateChild(place, childId, content));
  }

  /** A child chunk that cannot be indexed is not stored at all. */
  #unlessFailing<T>(content: string, write: () => T): T {
    if (!this.#options.childIndexFails(content)) return write();
    const message = "Create child chunk index failed: the model did not answer";
    throw new Refusal(500, "child_chunk_indexing_error", message);
  }

  /** The row of a chunk that could not be indexed. */
  #failed(row: Chunk): Chunk {
    const error = "Embedding failed: the model did not answer";
    return { ...row, enabled: false, disabled_at: this.time(), disabled_by: null, status: "error", error };
  }
}
