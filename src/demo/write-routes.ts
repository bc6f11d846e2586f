import { hash } from "node:crypto";
import * as v from "valibot";
import { check, listOf, object, text, truth } from "../schema.js";
import type { DocumentStore, Located } from "./document-store.js";
import { automaticChildren } from "./indexing.js";
import { invalidParam, notFound } from "./knowledge.js";
import { type Asked, jsonReply, noContent, type Route, route } from "./routes.js";
import {
  accounts,
  type ChildChunk,
  type Chunk,
  characters,
  countsOf,
  isHighQuality,
  isQa,
  newChild,
  newChunk,
  type StoredChunk,
  stableId,
  withChildren,
} from "./rows.js";

/** The texts of a chunk in a request. The demo checks the type of `attachment_ids`, but attaches nothing. */
const texts = {
  ...{ content: v.nullish(text), answer: v.nullish(text) },
  ...{ keywords: v.nullish(listOf(text)), attachment_ids: v.nullish(listOf(text)) },
};
const added = object(texts);
const change = object({ ...texts, enabled: v.nullish(truth) });

/** A chunk to add, or a change, as sent. Its rules are checked later. */
export type AddedChunk = Readonly<v.InferOutput<typeof added>>;
export type ChunkChange = Readonly<v.InferOutput<typeof change>>;

const addRequest = object({ segments: listOf(added) });
const changeRequest = object({ segment: change });
const childRequest = object({ content: text });

/** The ids of a dataset, a document and a chunk, as in a path. */
export type ChunkPath = readonly [datasetId: string, documentId: string, chunkId: string];

/** The routes for writing chunks and child chunks, and for reading a single chunk. */
export function writeRoutes(writes: ChunkWrites, store: DocumentStore): readonly Route[] {
  const segments = "/v1/datasets/:dataset/documents/:document/segments";
  const segment = `${segments}/:segment`;
  const children = `${segment}/child_chunks`;
  const child = `${children}/:child`;
  const pathOf = ({ id }: Asked): ChunkPath => [id("dataset"), id("document"), id("segment")];
  const answer = ({ id }: Asked, data: object) => {
    const { doc_form } = store.readIn(id("dataset"), id("document")).row;
    return jsonReply(200, { data, doc_form });
  };
  return [
    route("POST", segments, async (asked) => {
      const { segments } = await bodyOf(addRequest, asked);
      return answer(asked, writes.addChunks(asked.id("dataset"), asked.id("document"), segments));
    }),
    route("GET", segment, async (asked) => {
      store.readIn(asked.id("dataset"), asked.id("document"));
      return answer(asked, store.locate(asked.id("segment")).chunk.row);
    }),
    route("POST", segment, async (asked) => {
      const { segment } = await bodyOf(changeRequest, asked);
      return answer(asked, writes.updateChunk(...pathOf(asked), segment));
    }),
    route("DELETE", segment, async (asked) => {
      writes.deleteChunk(...pathOf(asked));
      return noContent;
    }),
    route("POST", children, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.addChild(pathOf(asked), content) });
    }),
    route("PATCH", child, async (asked) => {
      const { content } = await bodyOf(childRequest, asked);
      return jsonReply(200, { data: writes.updateChild(pathOf(asked), asked.id("child"), content) });
    }),
    route("DELETE", child, async (asked) => {
      writes.deleteChild(pathOf(asked), asked.id("child"));
      return noContent;
    }),
  ];
}

/**
 * The writes to the chunks of a store. An unknown id throws a 404, and a refused request stores nothing. A chunk need not belong
 * to the document in the path, because releases up to 1.12 find every chunk of the service. A child chunk must belong to the
 * chunk, and the chunk to the document.
 */
export class ChunkWrites {
  protected readonly store: DocumentStore;
  #written = 0;

  constructor(store: DocumentStore) {
    this.store = store;
  }

  addChunks(datasetId: string, documentId: string, added: readonly AddedChunk[]): readonly Chunk[] {
    const document = this.store.readIn(datasetId, documentId);
    const dataset = this.store.dataset(datasetId);
    for (const { content, answer } of added) {
      if (isQa(document.row) && !answer) throw invalidParam("Answer is required");
      if (isQa(document.row) && answer?.trim() === "") throw invalidParam("Answer is empty");
      if (!content?.trim()) throw invalidParam("Content is empty");
    }
    const last = greatestPosition(document.chunks.map(({ row }) => row));
    const time = this.time();
    const chunks = added.map(({ content, ...others }, index) => {
      const place = { id: this.#newId(document.row.id), position: last + index + 1, time, by: accounts.owner };
      const row = newChunk(document.row, { content: content ?? "", ...others }, isHighQuality(dataset), place);
      return withChildren({ row, children: [] }, automaticChildren(row, document, dataset, time), document);
    });
    this.store.writeChunks(document, [...document.chunks, ...chunks]);
    return chunks.map(({ row }) => row);
  }

  updateChunk(datasetId: string, documentId: string, chunkId: string, change: ChunkChange): Chunk {
    this.store.readIn(datasetId, documentId);
    const located = this.store.locate(chunkId);
    const { row } = located.chunk;
    if (row.enabled === false && change.enabled !== true) throw invalidParam("Can't update disabled segment");
    const changed =
      change.enabled === false
        ? { ...row, enabled: false, disabled_at: this.time(), disabled_by: accounts.owner }
        : changedTexts(located, change, this.time());
    this.store.writeChunk(located.document, { ...located.chunk, row: changed });
    return changed;
  }

  deleteChunk(datasetId: string, documentId: string, chunkId: string): void {
    this.store.readIn(datasetId, documentId);
    const { document, chunk } = this.store.locate(chunkId);
    const others = document.chunks.filter((each) => each !== chunk);
    this.store.writeChunks(document, others);
  }

  addChild(path: ChunkPath, content: string): ChildChunk {
    const parent = this.#parent(path);
    const { row, children } = parent.chunk;
    const place = { id: this.#newId(row.id), position: greatestPosition(children) + 1, time: this.time() };
    const child = newChild(row.id, content, "customized", place);
    this.#writeChildren(parent, [...children, child]);
    return child;
  }

  updateChild(path: ChunkPath, childId: string, content: string): ChildChunk {
    const parent = this.#parent(path);
    const child = childOf(parent.chunk, childId);
    const edited = { content, word_count: characters(content), type: "customized", updated_at: this.time() };
    const changed = { ...child, ...edited };
    const children = parent.chunk.children.map((each) => (each === child ? changed : each));
    this.#writeChildren(parent, children);
    return changed;
  }

  deleteChild(path: ChunkPath, childId: string): void {
    const parent = this.#parent(path);
    const child = childOf(parent.chunk, childId);
    const others = parent.chunk.children.filter((each) => each !== child);
    this.#writeChildren(parent, others);
  }

  /** The current time in whole Unix seconds, for the times in rows. */
  protected time(): number {
    return Math.floor(this.store.now());
  }

  #parent([datasetId, documentId, chunkId]: ChunkPath): Located {
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

function greatestPosition(rows: readonly (Chunk | ChildChunk)[]): number {
  return rows.reduce((greatest, { position }) => Math.max(greatest, position), 0);
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
  const enabled = { enabled: true, disabled_at: null, disabled_by: null };
  const same: Chunk = { ...row, ...(answer !== undefined && { answer }), word_count, ...enabled };
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

/** The maximum duration of a re-index, in seconds. */
const longest = 86_400;

/**
 * `POST /demo/reindex/<document id>?seconds=5` re-indexes a document of the demo. It is not part of the service's API, and is
 * outside of its base URL. Answers 202 with JSON, or only the batch if the client accepts plain text.
 */
export function reindexRoute(store: DocumentStore): Route {
  return route("POST", "/demo/reindex/:document", ({ id, query, headers }) => {
    const seconds = query.get("seconds") ?? "5";
    if (!/^\d+(\.\d+)?$/.test(seconds) || Number(seconds) > longest)
      throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
    const begun = store.reindex(id("document"), { seconds: Number(seconds) });
    if (!headers.accept?.startsWith("text/plain")) return jsonReply(202, begun);
    return { status: 202, type: "text/plain; charset=UTF-8", content: `${begun.batch}\n` };
  });
}

/** Parses the JSON body of a request. Throws a 400 that names every problem. */
export async function bodyOf<const Schema extends v.GenericSchema>(
  schema: Schema,
  { bytes }: Pick<Asked, "bytes">,
): Promise<v.InferOutput<Schema>> {
  return checked(schema, parseJson((await bytes()).toString()));
}

/** Checks a value. Throws a 400 that names every problem. */
export function checked<const Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = check(schema, value);
  if (result.problems === null) return result.value;
  throw invalidParam(result.problems.map(({ path, message }) => `${path || "the body"}: ${message}`).join("; "));
}

/** Parses JSON. Throws a 400 for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParam("The body is not valid JSON.");
  }
}
