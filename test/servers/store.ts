import type { ChildRecord, ChunkRecord, Json, JsonObject, StatusEntry } from "./json.js";
import { makeChild, makeChunk, sampleTime } from "./make-record.js";
import { integer, type Random, randomFrom, uuid } from "./random.js";

export interface TestDocument {
  readonly id: string;
  name: string;
  docForm: string;
  createdAt: number;
  /** Records in the order of the server's list. Tests may edit them. */
  chunks: ChunkRecord[];
  /** Chunk id → its child chunks in the order of the list. A chunk without an entry has none. */
  readonly children: Map<string, ChildRecord[]>;
  /** Fields of its row in the list of documents. They replace or extend the usual fields. */
  listed?: JsonObject;
  /** The details of the document. Without them, the server behaves like an older release, which has no such URL. */
  details?: JsonObject;
  /** The original file of the document. null: it has none; undefined: the server has no such URL. */
  upload?: JsonObject | null;
}

/** The status entries of a batch, or a function that returns them for the n-th read, from 1. */
export type Batch = StatusEntry[] | ((read: number) => StatusEntry[]);

export interface TestDataset {
  readonly id: string;
  name: string;
  readonly documents: Map<string, TestDocument>;
  readonly batches: Map<string, Batch>;
  /** Fields of its row in the list of datasets. They replace or extend the usual fields. */
  listed?: JsonObject;
  /** The answers for the dataset's metadata fields and tags. Without them, the server has no such URLs. */
  metadata?: JsonObject;
  tags?: JsonObject;
}

/** A knowledge base in memory. A test may change it at any time, even between two pages. */
export class Store {
  readonly datasets = new Map<string, TestDataset>();
  readonly #random: Random;

  constructor(seed = 1) {
    this.#random = randomFrom(seed);
  }

  /** Adds a dataset with these documents. Ids come from the store's seed. */
  addDataset(...documents: TestDocument[]): TestDataset {
    const name = `Knowledge ${this.datasets.size + 1}`;
    const held = new Map(documents.map((document) => [document.id, document]));
    const dataset: TestDataset = { id: uuid(this.#random), name, documents: held, batches: new Map() };
    this.datasets.set(dataset.id, dataset);
    return dataset;
  }
}

export interface DocumentOptions {
  readonly chunks: number;
  /** Children of every chunk, or of the chunk at an index. Default 0. */
  readonly childrenPerChunk?: number | ((index: number) => number);
  /** The form of the document; default: text_model. */
  readonly docForm?: string;
  /** Documents with the same seed have the same ids, so give every document its own. Default 1. */
  readonly seed?: number;
  /** Whether chunks carry their children too. Default: only in hierarchical_model. */
  readonly embedChildren?: boolean;
  /** Old servers lack six fields, including embedded children. Default recent. */
  readonly variant?: "recent" | "old";
}

const recentFields = ["sign_content", "updated_at", "updated_by", "child_chunks", "attachments", "summary"] as const;

/** The next position: mostly one more, sometimes the same again, sometimes after a gap. */
function nextPosition(random: Random, position: number): number {
  const dice = random();
  if (dice < 0.06) return position;
  return dice < 0.12 ? position + integer(random, 2, 9) : position + 1;
}

function makeChildren(random: Random, segmentId: string, count: number): ChildRecord[] {
  const children: ChildRecord[] = [];
  for (let position = 1; children.length < count; position = nextPosition(random, position)) {
    children.push(makeChild(random, segmentId, position));
  }
  return children;
}

/** Creates a document with realistic records. The same options return the same document. */
export function makeDocument(options: DocumentOptions): TestDocument {
  const { chunks: count, childrenPerChunk = 0, docForm = "text_model", seed = 1, variant = "recent" } = options;
  const embed = options.embedChildren ?? docForm === "hierarchical_model";
  const random = randomFrom(seed);
  const id = uuid(random);
  const author = uuid(random);
  const chunks: ChunkRecord[] = [];
  const children = new Map<string, ChildRecord[]>();
  for (let position = 1; chunks.length < count; position = nextPosition(random, position)) {
    const chunk = makeChunk(random, { documentId: id, author, docForm, position });
    const wanted = typeof childrenPerChunk === "number" ? childrenPerChunk : childrenPerChunk(chunks.length);
    const own = makeChildren(random, chunk.id, wanted);
    children.set(chunk.id, own);
    if (embed) chunk.child_chunks = own;
    if (variant === "old") for (const field of recentFields) delete chunk[field];
    chunks.push(chunk);
  }
  return { id, name: `document ${seed}.md`, docForm, createdAt: sampleTime + seed, chunks, children };
}

/** The status entry of a completed document, with some fields changed. */
export function makeStatusEntry(documentId: string, differences: { [field: string]: Json } = {}): StatusEntry {
  return {
    id: documentId,
    indexing_status: "completed",
    processing_started_at: sampleTime + 0.125,
    parsing_completed_at: sampleTime + 1,
    cleaning_completed_at: sampleTime + 2.5,
    splitting_completed_at: sampleTime + 3,
    completed_at: sampleTime + 60.75,
    paused_at: null,
    error: null,
    stopped_at: null,
    completed_segments: 10,
    total_segments: 10,
    ...differences,
  };
}

/** A batch in progress: both counts are 0 at the first read, then grow by `perRead` at each read, up to `total`. */
export function growingBatch(documentIds: readonly string[], total: number, perRead: number): Batch {
  return (read) => {
    const completed = Math.min(total, (read - 1) * perRead);
    const done = completed === total;
    const counts = { completed_segments: completed, total_segments: read === 1 ? 0 : total };
    const state = { indexing_status: done ? "completed" : "indexing", completed_at: done ? sampleTime + 60 : null };
    return documentIds.map((id) => makeStatusEntry(id, { ...counts, ...state }));
  };
}

const indexes = new WeakMap<TestDocument, Map<string, number>>();

/** Finds a chunk by id. Fast even in large documents, and valid after any edit of `document.chunks`. */
export function findChunk(document: TestDocument, id: string): ChunkRecord | undefined {
  const known = document.chunks[indexes.get(document)?.get(id) ?? -1];
  if (known?.id === id) return known;
  const index = new Map(document.chunks.map((chunk, at) => [chunk.id, at]));
  indexes.set(document, index);
  return document.chunks[index.get(id) ?? -1];
}
