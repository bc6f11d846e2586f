import { invalidParam, Refusal } from "../../../src/demo/knowledge.js";
import type { Attachment, Chunk, Document } from "../../../src/demo/rows.js";
import { type AddedChunk, type ChunkChange, type ChunkPath, ChunkWrites } from "../../../src/demo/write-routes.js";
import { findAttachment } from "./files.js";
import type { WritableStore } from "./writable-store.js";

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

/**
 * Writes to chunks as in the service, beyond those of the demo: attached files, a limit per request, documents that accept no chunks,
 * a lock after a change of `enabled`, and embeddings that may fail.
 */
export class FailingWrites extends ChunkWrites {
  readonly #files: WritableStore;
  readonly #options: Required<FailingOptions>;
  /** Chunk id → the Unix time in seconds until which it accepts no change. */
  readonly #busyUntil = new Map<string, number>();

  constructor(store: WritableStore, options: FailingOptions = {}) {
    super(store);
    this.#files = store;
    const none = () => false;
    const { maxPerRequest = 0, embeddingFails = none, childIndexFails = none, indexingSeconds = 600 } = options;
    this.#options = { maxPerRequest, embeddingFails, childIndexFails, indexingSeconds };
  }

  /** Adds chunks. If one of a request cannot be indexed, all of them fail: they are stored, but disabled. */
  override addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]) {
    checkReady(this.store.readIn(datasetId, documentId).row);
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
    this.store.readIn(datasetId, documentId);
    const before = this.store.locate(chunkId).chunk;
    const row = this.#bound(before.row, change, () => super.updateChunk(datasetId, documentId, chunkId, change));
    const { content, keywords, enabled } = row;
    const isOther = content !== before.row.content || String(keywords) !== String(before.row.keywords);
    const isIndexed = enabled !== false && (isOther || change.enabled === true);
    if (!isIndexed || !this.#options.embeddingFails(content)) return row;
    const failed = this.#failed({ ...row, child_chunks: before.row.child_chunks });
    this.store.writeChunk(this.store.locate(chunkId).document, { ...before, row: failed });
    return failed;
  }

  /** Changes a chunk, and replaces its attached files by those that the change names. Throws a 400 for a locked chunk. */
  #bound(before: Chunk, change: ChunkChange, write: () => Chunk): Chunk {
    const now = this.store.now();
    if (now < (this.#busyUntil.get(before.id) ?? 0)) throw invalidParam("Segment is indexing, please try again later");
    const isEnabled = before.enabled !== false;
    const keepsFiles = !before.attachments || change.enabled === false || (!isEnabled && !change.enabled);
    const attachments = keepsFiles ? before.attachments : this.#filesOf(before, change.attachment_ids ?? []);
    const row = { ...write(), ...(attachments && { attachments }) };
    const { document, chunk } = this.store.locate(before.id);
    this.store.writeChunk(document, { ...chunk, row });
    const isSwitched = typeof change.enabled === "boolean" && change.enabled !== isEnabled;
    if (isSwitched) this.#busyUntil.set(before.id, now + this.#options.indexingSeconds);
    return row;
  }

  /** The files with these ids: those already attached to the chunk first, then the others. Throws a 400 for an unknown file. */
  #filesOf({ attachments = [] }: Chunk, ids: readonly string[]): readonly Attachment[] {
    const named = [...new Set(ids.map((id) => id.toLowerCase()))];
    const kept = attachments.filter(({ id }) => named.includes(String(id)));
    const others = named.filter((id) => !kept.some((file) => file.id === id));
    const added = others.map((id) => {
      const file = this.#files.files.find(id)?.facts ?? findAttachment(this.#files, id);
      if (!file) throw invalidParam(`Attachment ${id} not found.`);
      const { name, size, extension, mime_type } = file;
      return { id, name, size, extension, mime_type, source_url: `/files/${id}/file-preview` };
    });
    return [...kept, ...added];
  }

  override addChild(path: ChunkPath, content: string) {
    return this.#unlessFailing(content, () => super.addChild(path, content));
  }

  override updateChild(path: ChunkPath, childId: string, content: string) {
    return this.#unlessFailing(content, () => super.updateChild(path, childId, content));
  }

  /** Does a write of a child chunk, unless indexing it fails: then the child chunk is not stored at all. */
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

/** Throws a 404 or 400 if the document accepts no new chunks. */
function checkReady({ indexing_status = "completed", enabled = true, archived = false }: Document): void {
  if (indexing_status !== "completed") throw new Refusal(404, "not_found", "Document is not completed.");
  if (enabled !== true) throw new Refusal(404, "not_found", "Document is disabled.");
  if (archived === true) throw invalidParam("The document is archived.");
}
