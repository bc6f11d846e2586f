import type { StoredChunk } from "../index-knowledge.js";
import type { ChildChunk } from "../knowledge.js";
import { invalidParam, notFound, Refusal } from "../refusal.js";
import { characters } from "../sample/prose/compose.js";
import { stableId } from "../sample/stable-id.js";
import { findAttachment } from "../sample-attachment.js";
import { withChildren, withChunk, withChunks } from "../store/change-document.js";
import type { DocumentStore, Located } from "../store/document-store.js";
import type { FileStore } from "../store/file-store.js";
import { newChild } from "../store/new-chunk.js";
import { checkReady, checkTexts, chunksFrom } from "./add-chunks.js";
import { changedChunk, isEnabled } from "./change-chunk.js";
import type { AddedChunk, ChunkChange } from "./requests.js";
import type { ChunkAnswer, ChunksAnswer, ParentPlace, WritableKnowledge } from "./writable-knowledge.js";
import { answerLater, type WriteOptions } from "./write-options.js";

/** The writes of a store. Each is done at once, before its answer waits for the delay. */
export class Writes implements WritableKnowledge {
  readonly #store: DocumentStore;
  readonly #files: FileStore;
  readonly #options: Required<WriteOptions>;
  /** Chunk id → the time, in Unix seconds, until which it takes no change. */
  readonly #busyUntil = new Map<string, number>();
  #written = 0;

  constructor(store: DocumentStore, files: FileStore, options: Required<WriteOptions>) {
    this.#store = store;
    this.#files = files;
    this.#options = options;
  }

  readChunk(datasetId: string, documentId: string, chunkId: string): ChunkAnswer {
    const { row } = this.#store.readIn(datasetId, documentId);
    return { data: this.#store.locate(chunkId).chunk.row, doc_form: row.doc_form };
  }

  async addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]): Promise<ChunksAnswer> {
    const document = this.#store.readIn(datasetId, documentId);
    checkReady(document.row);
    const texts = checkTexts(added, document.row, this.#options.maxPerRequest);
    const failure = texts.map(({ content }) => this.#failureOf(content)).find((reason) => reason !== undefined);
    const dataset = this.#store.datasetOf(document);
    const nextId = () => this.#newId(document.row.id);
    const chunks = chunksFrom(texts, document, { dataset, time: this.#time(), failure, nextId });
    this.#store.write(withChunks(document, [...document.chunks, ...chunks]));
    await answerLater(this.#options, chunks.length);
    return { data: chunks.map(({ row }) => row), doc_form: document.row.doc_form };
  }

  async updateChunk(datasetId: string, documentId: string, chunkId: string, change: ChunkChange): Promise<ChunkAnswer> {
    const { row } = this.#store.readIn(datasetId, documentId);
    const { dataset, document, chunk } = this.#store.locate(chunkId);
    const { id } = chunk.row;
    const now = this.#store.now();
    if (now < (this.#busyUntil.get(id) ?? 0)) throw invalidParam("Segment is indexing, please try again later");
    const changed = changedChunk(chunk, change, {
      dataset,
      document,
      time: this.#time(),
      fileOf: (id) => this.#files.find(id)?.facts ?? findAttachment(this.#store, id),
      failureOf: (content) => this.#failureOf(content),
      round: ++this.#written,
    });
    this.#store.write(withChunk(document, changed));
    const isSwitched = typeof change.enabled === "boolean" && change.enabled !== isEnabled(chunk.row);
    if (isSwitched) this.#busyUntil.set(id, now + this.#options.indexingSeconds);
    await answerLater(this.#options);
    return { data: changed.row, doc_form: row.doc_form };
  }

  async deleteChunk(datasetId: string, documentId: string, chunkId: string): Promise<void> {
    this.#store.readIn(datasetId, documentId);
    const { document, chunk } = this.#store.locate(chunkId);
    this.#store.write(
      withChunks(
        document,
        document.chunks.filter((each) => each !== chunk),
      ),
    );
    await answerLater(this.#options);
  }

  async addChild(place: ParentPlace, content: string): Promise<ChildChunk> {
    const parent = this.#parent(place);
    const { row, children } = parent.chunk;
    this.#checkChildIndex(content);
    const position = children.reduce((greatest, child) => Math.max(greatest, child.position), 0) + 1;
    const child = newChild(row.id, content, "customized", { id: this.#newId(row.id), position, time: this.#time() });
    await this.#writeChildren(parent, [...children, child]);
    return child;
  }

  async updateChild(place: ParentPlace, childId: string, content: string): Promise<ChildChunk> {
    const parent = this.#parent(place);
    const child = childOf(parent.chunk, childId);
    this.#checkChildIndex(content);
    const word_count = characters(content);
    const changed = { ...child, content, word_count, type: "customized", updated_at: this.#time() };
    await this.#writeChildren(
      parent,
      parent.chunk.children.map((each) => (each === child ? changed : each)),
    );
    return changed;
  }

  async deleteChild(place: ParentPlace, childId: string): Promise<void> {
    const parent = this.#parent(place);
    const child = childOf(parent.chunk, childId);
    await this.#writeChildren(
      parent,
      parent.chunk.children.filter((each) => each !== child),
    );
  }

  #parent({ datasetId, documentId, chunkId }: ParentPlace): Located {
    const { row } = this.#store.readIn(datasetId, documentId);
    const parent = this.#store.locate(chunkId);
    if (parent.document.row.id !== row.id) throw notFound("Segment");
    return parent;
  }

  async #writeChildren({ document, chunk }: Located, children: readonly ChildChunk[]): Promise<void> {
    this.#store.write(withChunk(document, withChildren(chunk, children, document)));
    await answerLater(this.#options);
  }

  #failureOf(content: string): string | undefined {
    return this.#options.embeddingFails(content) ? "Embedding failed: the model did not answer" : undefined;
  }

  /** Nothing is stored of a child chunk that cannot be indexed. */
  #checkChildIndex(content: string): void {
    if (!this.#options.childIndexFails(content)) return;
    const message = "Create child chunk index failed: the model did not answer";
    throw new Refusal(500, "child_chunk_indexing_error", message);
  }

  #newId(owner: string): string {
    return stableId(`${owner}/written ${++this.#written}`);
  }

  #time(): number {
    return Math.floor(this.#store.now());
  }
}

function childOf({ children }: StoredChunk, childId: string): ChildChunk {
  const child = children.find(({ id }) => id === childId.toLowerCase());
  if (!child) throw notFound("Child chunk");
  return child;
}
