import { hash } from "node:crypto";
import * as v from "valibot";
import { listOf, object, text, truth } from "../schema.js";
import type { DocumentStore, Located } from "./document-store.js";
import { automaticChildren } from "./indexing.js";
import { invalidParam, notFound } from "./knowledge.js";
import {
  accounts,
  type ChildChunk,
  type Chunk,
  type ChunkText,
  characters,
  countsOf,
  type Document,
  isHighQuality,
  isQa,
  newChild,
  newChunk,
  type StoredChunk,
  stableId,
  withChildren,
} from "./rows.js";

const optionalText = v.nullish(text);
const optionalTexts = v.nullish(listOf(text));
const texts = { content: optionalText, answer: optionalText, keywords: optionalTexts, attachment_ids: optionalTexts };

/** File ids are checked and then ignored. */
const added = object(texts);
const change = object({ ...texts, enabled: v.nullish(truth) });

/** A chunk to add, as sent. Its rules are checked later. */
export type AddedChunk = Readonly<v.InferOutput<typeof added>>;

export type ChunkChange = Readonly<v.InferOutput<typeof change>>;

export const addRequest = object({ segments: listOf(added) });
export const changeRequest = object({ segment: change });
export const childRequest = object({ content: text });

/** The path ids of a chunk that has child chunks. */
export interface ParentIds {
  readonly datasetId: string;
  readonly documentId: string;
  readonly chunkId: string;
}

/**
 * The writes to the chunks of a store. Ids arrive as in the path; an unknown id throws a 404, and a refused request stores
 * nothing. A chunk need not belong to the document in the path, because releases up to 1.12 find every chunk of the service. A
 * child chunk must belong to the chunk, and the chunk to the document.
 */
export class ChunkWrites {
  protected readonly store: DocumentStore;
  #written = 0;

  constructor(store: DocumentStore) {
    this.store = store;
  }

  addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]): readonly Chunk[] {
    const document = this.store.readIn(datasetId, documentId);
    const texts = checkTexts(added, document.row);
    const dataset = this.store.dataset(datasetId);
    const last = document.chunks.reduce((greatest, { row }) => Math.max(greatest, row.position), 0);
    const chunks = texts.map((text, index) => {
      const place = { id: this.#newId(document.row.id), position: last + index + 1, time: this.time() };
      const row = newChunk(document.row, text, isHighQuality(dataset), { ...place, by: accounts.owner });
      const children = automaticChildren(row, document, dataset, this.time());
      return withChildren({ row, children: [] }, children, document);
    });
    this.store.writeChunks(document, [...document.chunks, ...chunks]);
    return chunks.map(({ row }) => row);
  }

  updateChunk(datasetId: string, documentId: string, chunkId: string, change: ChunkChange): Chunk {
    this.store.readIn(datasetId, documentId);
    const located = this.store.locate(chunkId);
    const row = this.#changed(located, change);
    this.store.writeChunk(located.document, { ...located.chunk, row });
    return row;
  }

  deleteChunk(datasetId: string, documentId: string, chunkId: string): void {
    this.store.readIn(datasetId, documentId);
    const { document, chunk } = this.store.locate(chunkId);
    this.store.writeChunks(
      document,
      document.chunks.filter((each) => each !== chunk),
    );
  }

  addChild(place: ParentIds, content: string): ChildChunk {
    const parent = this.#parent(place);
    const { row, children } = parent.chunk;
    const position = children.reduce((greatest, child) => Math.max(greatest, child.position), 0) + 1;
    const child = newChild(row.id, content, "customized", { id: this.#newId(row.id), position, time: this.time() });
    this.#writeChildren(parent, [...children, child]);
    return child;
  }

  updateChild(place: ParentIds, childId: string, content: string): ChildChunk {
    const parent = this.#parent(place);
    const child = childOf(parent.chunk, childId);
    const word_count = characters(content);
    const changed = { ...child, content, word_count, type: "customized", updated_at: this.time() };
    this.#writeChildren(
      parent,
      parent.chunk.children.map((each) => (each === child ? changed : each)),
    );
    return changed;
  }

  deleteChild(place: ParentIds, childId: string): void {
    const parent = this.#parent(place);
    const child = childOf(parent.chunk, childId);
    this.#writeChildren(
      parent,
      parent.chunk.children.filter((each) => each !== child),
    );
  }

  /** Unix seconds, as in rows. */
  protected time(): number {
    return Math.floor(this.store.now());
  }

  /**
   * Applies a change to a chunk. `enabled: false` only disables it. Throws a 400 for a disabled chunk unless the change sets
   * `enabled: true`.
   */
  #changed(located: Located, change: ChunkChange): Chunk {
    const { row } = located.chunk;
    const isEnabled = row.enabled !== false;
    if (!isEnabled && change.enabled !== true) throw invalidParam("Can't update disabled segment");
    if (change.enabled !== false) return changedTexts(located, change, this.time());
    return { ...row, enabled: false, disabled_at: this.time(), disabled_by: accounts.owner };
  }

  #parent({ datasetId, documentId, chunkId }: ParentIds): Located {
    const { row } = this.store.readIn(datasetId, documentId);
    const parent = this.store.locate(chunkId);
    if (parent.document.row.id !== row.id) throw notFound("Segment");
    return parent;
  }

  #writeChildren({ document, chunk }: Located, children: readonly ChildChunk[]): void {
    this.store.writeChunk(document, withChildren(chunk, children, document));
  }

  #newId(owner: string): string {
    return stableId(`${owner}/written ${++this.#written}`);
  }
}

function childOf({ children }: StoredChunk, childId: string): ChildChunk {
  const child = children.find(({ id }) => id === childId.toLowerCase());
  if (!child) throw notFound("Child chunk");
  return child;
}

/** As in the service, a change without an answer removes the answer. */
function changedTexts({ dataset, document, chunk: { row } }: Located, change: ChunkChange, time: number): Chunk {
  const content = change.content || row.content;
  const answer = isQa(document.row) ? (change.answer ?? null) : row.answer;
  const { word_count, tokens } = countsOf(content, answer, isHighQuality(dataset));
  const same: Chunk = {
    ...row,
    ...(answer !== undefined && { answer }),
    word_count,
    ...{ enabled: true, disabled_at: null, disabled_by: null },
  };
  const keywords = change.keywords?.length ? { keywords: change.keywords } : {};
  if (content === row.content) return { ...same, ...keywords };
  const signed = row.sign_content === row.content ? { sign_content: content } : {};
  return {
    ...same,
    // High-quality datasets keep the keywords when the content changes; changing both takes two requests.
    ...(isHighQuality(dataset) ? {} : keywords),
    ...{ content, ...signed, tokens, index_node_hash: hash("sha256", content), status: "completed" },
    ...{ indexing_at: time, completed_at: time, updated_by: accounts.owner, updated_at: time },
  };
}

/** The texts to add. Throws a 400 for an empty one. */
function checkTexts(added: readonly AddedChunk[], document: Document): readonly ChunkText[] {
  return added.map(({ content, answer, keywords }) => {
    if (isQa(document) && !answer) throw invalidParam("Answer is required");
    if (isQa(document) && answer?.trim() === "") throw invalidParam("Answer is empty");
    if (!content?.trim()) throw invalidParam("Content is empty");
    return { content, answer: answer ?? null, keywords: keywords ?? [] };
  });
}
