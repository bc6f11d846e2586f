import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import {
  type Attachment,
  type ChildChunk,
  type Chunk,
  type Dataset,
  type Document,
  invalidParam,
  notFound,
  notReady,
  Refusal,
} from "../knowledge.js";
import { findAttachment } from "../originals.js";
import { accounts, stableId } from "../sample/outline.js";
import { characters } from "../sample/prose.js";
import type { DocumentStore, Located } from "../store/document-store.js";
import type { FileStore } from "../store/file-store.js";
import { type ChunkText, countsOf, isQa, newChild, newChunk } from "../store/new-rows.js";
import {
  automaticChildren,
  isHighQuality,
  makesChildren,
  withChildren,
  withChunk,
  withChunks,
} from "../store/new-source.js";
import type { AddedChunk, ChunkChange } from "./requests.js";
import type { ChunkAnswer, ChunksAnswer, ParentIds, WritableKnowledge } from "./writable-knowledge.js";
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

  async addChild(place: ParentIds, content: string): Promise<ChildChunk> {
    const parent = this.#parent(place);
    const { row, children } = parent.chunk;
    this.#checkChildIndex(content);
    const position = children.reduce((greatest, child) => Math.max(greatest, child.position), 0) + 1;
    const child = newChild(row.id, content, "customized", { id: this.#newId(row.id), position, time: this.#time() });
    await this.#writeChildren(parent, [...children, child]);
    return child;
  }

  async updateChild(place: ParentIds, childId: string, content: string): Promise<ChildChunk> {
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

  async deleteChild(place: ParentIds, childId: string): Promise<void> {
    const parent = this.#parent(place);
    const child = childOf(parent.chunk, childId);
    await this.#writeChildren(
      parent,
      parent.chunk.children.filter((each) => each !== child),
    );
  }

  #parent({ datasetId, documentId, chunkId }: ParentIds): Located {
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

/** The circumstances of a change. */
interface Circumstances {
  readonly dataset: Dataset;
  readonly document: StoredDocument;
  /** Unix seconds. */
  readonly time: number;
  /** The file with an id: one that somebody uploaded, or that a chunk has. */
  readonly fileOf: (id: string) => Readonly<Record<string, unknown>> | undefined;
  /** Why a content cannot be indexed; undefined where it can. */
  readonly failureOf: (content: string) => string | undefined;
  /** The number of this write, from 1. */
  readonly round: number;
}

/**
 * The chunk as a change leaves it. `enabled: false` disables it, and nothing else happens. Throws a 400 for a disabled chunk, unless
 * `enabled: true` comes with the change.
 */
function changedChunk(chunk: StoredChunk, change: ChunkChange, circumstances: Circumstances): StoredChunk {
  const { document, dataset, time, failureOf, round } = circumstances;
  const { row } = chunk;
  if (change.enabled === false && isEnabled(row)) {
    const disabled = { enabled: false, disabled_at: time, disabled_by: accounts.owner };
    return { ...chunk, row: { ...row, ...disabled } };
  }
  if (!isEnabled(row) && change.enabled !== true) throw invalidParam("Can't update disabled segment");
  const changed = changedRow(row, change, circumstances);
  const isOther = changed.content !== row.content || String(changed.keywords) !== String(row.keywords);
  const failure = isOther || change.enabled === true ? failureOf(changed.content) : undefined;
  if (failure !== undefined) return { ...chunk, row: { ...changed, ...failedState(failure, time) } };
  if (!change.regenerate_child_chunks || !makesChildren(document, dataset)) return { ...chunk, row: changed };
  const parent = { ...chunk, row: changed };
  return withChildren(parent, automaticChildren(parent, document, dataset, { time, round }), document);
}

function isEnabled({ enabled }: Chunk): boolean {
  return enabled !== false;
}

/** The fields left out are not always kept: an answer gets lost, and files that are not named are unbound. */
function changedRow(row: Chunk, change: ChunkChange, { document, dataset, time, fileOf }: Circumstances): Chunk {
  const content = change.content || row.content;
  const answer = isQa(document.row) ? (change.answer ?? null) : row.answer;
  const { word_count, tokens } = countsOf(content, answer, isHighQuality(dataset));
  const attachments = row.attachments && boundFiles(row.attachments, change.attachment_ids ?? [], fileOf);
  const same: Chunk = {
    ...row,
    ...(answer !== undefined && { answer }),
    word_count,
    ...(attachments && { attachments }),
    ...(typeof change.summary === "string" && { summary: change.summary }),
    ...{ enabled: true, disabled_at: null, disabled_by: null },
  };
  const keywords = change.keywords?.length ? { keywords: change.keywords } : {};
  if (content === row.content) return { ...same, ...keywords };
  const signed = row.sign_content === row.content ? { sign_content: content } : {};
  return {
    ...same,
    // High-quality datasets keep the keywords whenever the content changes: these must come with a request of their own.
    ...(isHighQuality(dataset) ? {} : keywords),
    ...{ content, ...signed, tokens, index_node_hash: hash("sha256", content), status: "completed" },
    ...{ indexing_at: time, completed_at: time, updated_by: accounts.owner, updated_at: time },
  };
}

/** The files that are named: those that the chunk has already, and behind them others. Throws a 400 for a file that is unknown. */
function boundFiles(
  present: readonly Attachment[],
  ids: readonly string[],
  fileOf: Circumstances["fileOf"],
): readonly Attachment[] {
  const named = [...new Set(ids.map((id) => id.toLowerCase()))];
  const kept = present.filter(({ id }) => named.includes(String(id)));
  const others = named.filter((id) => !kept.some((file) => file.id === id));
  const added = others.map((id) => {
    const file = fileOf(id);
    if (!file) throw invalidParam(`Attachment ${id} not found.`);
    const { name, size, extension, mime_type } = file;
    return { id, name, size, extension, mime_type, source_url: `/files/${id}/file-preview` };
  });
  return [...kept, ...added];
}

/** Throws a 404 or 400 for a document that takes no new chunks. */
function checkReady({ indexing_status = "completed", enabled = true, archived = false }: Document): void {
  if (indexing_status !== "completed") throw notReady("not completed");
  if (enabled !== true) throw notReady("disabled");
  if (archived === true) throw invalidParam("The document is archived.");
}

/** The texts to add. Throws a 400 for too many of them, and for one that says nothing. `most`: 0 for any number. */
function checkTexts(added: readonly AddedChunk[], document: Document, most: number): readonly ChunkText[] {
  if (most > 0 && added.length > most) throw invalidParam(`Exceeded maximum segments limit of ${most}.`);
  return added.map(({ content, answer, keywords }) => {
    if (isQa(document)) checkAnswer(answer);
    if (!content?.trim()) throw invalidParam("Content is empty");
    return { content, answer: answer ?? null, keywords: keywords ?? [] };
  });
}

function checkAnswer(answer: string | null | undefined): void {
  if (!answer) throw invalidParam("Answer is required");
  if (answer.trim() === "") throw invalidParam("Answer is empty");
}

/** The circumstances of an addition. */
interface Addition {
  readonly dataset: Dataset;
  /** Unix seconds. */
  readonly time: number;
  /** Why the chunks cannot be indexed; undefined where they can. */
  readonly failure: string | undefined;
  readonly nextId: () => string;
}

/** The chunks that come of these texts, at the end of the document. They fail together: then they are stored, and disabled. */
function chunksFrom(
  texts: readonly ChunkText[],
  document: StoredDocument,
  { dataset, time, failure, nextId }: Addition,
): readonly StoredChunk[] {
  const last = document.chunks.reduce((greatest, { row }) => Math.max(greatest, row.position), 0);
  return texts.map((text, index) => {
    const place = { id: nextId(), position: last + index + 1, time, by: accounts.owner };
    const chunk = { row: newChunk(document.row, text, isHighQuality(dataset), place), children: [] };
    if (failure !== undefined) return { ...chunk, row: { ...chunk.row, ...failedState(failure, time) } };
    return withChildren(chunk, automaticChildren(chunk, document, dataset, { time, round: 0 }), document);
  });
}

/** The state of a chunk that could not be indexed. */
function failedState(error: string, time: number) {
  return { enabled: false, disabled_at: time, disabled_by: null, status: "error", error };
}
