import type { ChildRecord, ChunkRecord } from "../../servers/json.js";
import { Store, type TestDataset, type TestDocument } from "../../servers/store.js";
import type { DocumentShape, Scenario } from "../scenario.js";
import { childId, chunkId, documentId } from "./ids.js";

/** The knowledge base of a scenario. Its records are small and immutable: an edit replaces them. */
export interface Knowledge {
  readonly store: Store;
  readonly dataset: TestDataset;
  /** All documents, including deleted ones, in the order in which they were added. */
  readonly documents: TestDocument[];
  /** Document id → its shape. */
  readonly shapes: Map<string, DocumentShape>;
  /** Ids of chunks that the service cannot render → the status of its answer. */
  readonly unreadable: ReadonlyMap<string, number>;
}

export function knowledgeOf({ seed, documents: shapes }: Scenario): Knowledge {
  const store = new Store(seed);
  const documents = shapes.map((shape, index) => documentOf(shape, index + 1));
  const unreadable = shapes.flatMap(({ unreadable: { chunks, status } }, index) =>
    chunks.map((chunk) => [chunkId(index + 1, chunk), status] as const),
  );
  return {
    store,
    dataset: store.addDataset(...documents),
    documents,
    shapes: new Map(shapes.map((shape, index) => [documentId(index), shape])),
    unreadable: new Map(unreadable),
  };
}

/** Creates a document of this shape. `number`: unique, from 1. */
export function documentOf(shape: DocumentShape, number: number): TestDocument {
  const id = documentId(number - 1);
  const chunks: ChunkRecord[] = [];
  const children = new Map<string, ChildRecord[]>();
  for (let at = 0; at < shape.chunks; at++) {
    const chunk = chunkId(number, at + 1);
    const position = shape.ties > 0 ? at - (at % shape.ties) : at + 1;
    chunks.push(chunkOf(id, chunk, position, { content: `chunk ${at + 1}`, answer: at % 4 === 0 ? "yes" : null }));
    const count = childrenOf(shape, at + 1);
    const list = Array.from({ length: count }, (_, child) =>
      childOf(chunk, shape.childTies ? child - (child % 7) : child + 1, childId(number, at + 1, child + 1)),
    );
    children.set(chunk, list);
  }
  const document = { id, name: `document ${number}`, docForm: shape.form, createdAt: number, chunks, children };
  sortChunks(document);
  return document;
}

/** The original number of children of chunk number `chunk`, from 1. */
export function childrenOf({ big, bigEvery, few }: DocumentShape, chunk: number): number {
  return big > 0 && chunk % bigEvery === 0 ? big : chunk % few;
}

/** Creates a chunk at a position. */
export function chunkOf(
  document: string,
  id: string,
  position: number,
  fields: {
    readonly content: string;
    readonly answer?: string | null;
    readonly status?: string;
    readonly created_at?: number;
  },
): ChunkRecord {
  return { id, position, document_id: document, answer: null, status: "completed", created_at: longAgo, ...fields };
}

/** The service's time at the start of a simulation, in Unix seconds. The original chunks have this time too. */
export const beginning = 1_741_267_200;
const longAgo = beginning - 1_000_000;

/** Creates a child chunk at a position. */
export function childOf(chunk: string, position: number, id: string): ChildRecord {
  return { id, segment_id: chunk, position, content: `child ${id}` };
}

/** Sorts chunks like the service: by position, then by id. */
export function sortChunks(document: TestDocument): void {
  document.chunks.sort((one, other) => positionOf(one) - positionOf(other) || (one.id < other.id ? -1 : 1));
}

export function positionOf({ position }: ChunkRecord): number {
  return Number(position);
}
