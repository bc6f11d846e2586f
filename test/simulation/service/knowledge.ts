import type { ChildRecord, ChunkRecord } from "../servers/json.js";
import { Store, type TestDataset, type TestDocument } from "../servers/store.js";
import { documentId } from "./document-id.js";
import type { DocumentShape, Scenario } from "./scenario.js";

/** The knowledge base of a scenario. Its records are small, and replaced rather than changed. */
export interface Knowledge {
  readonly store: Store;
  readonly dataset: TestDataset;
  /** In the order of the job. */
  readonly documents: readonly TestDocument[];
}

export function knowledgeOf({ seed, documents: shapes }: Scenario): Knowledge {
  const store = new Store(seed);
  const documents = shapes.map((shape, index) => documentOf(shape, index + 1));
  return { store, dataset: store.addDataset(...documents), documents };
}

function documentOf(shape: DocumentShape, number: number): TestDocument {
  const id = documentId(number - 1);
  const chunks: ChunkRecord[] = [];
  const children = new Map<string, ChildRecord[]>();
  for (let at = 0; at < shape.chunks; at++) {
    const chunk = `d${number}-c${at + 1}`;
    const position = shape.ties > 0 ? at - (at % shape.ties) : at + 1;
    chunks.push({
      id: chunk,
      position,
      document_id: id,
      content: `chunk ${at + 1}`,
      answer: at % 4 === 0 ? "yes" : null,
    });
    const count = shape.big > 0 && (at + 1) % shape.bigEvery === 0 ? shape.big : (at + 1) % shape.few;
    children.set(
      chunk,
      Array.from({ length: count }, (_, child) => childOf(chunk, child + 1)),
    );
  }
  return { id, name: `document ${number}`, docForm: shape.form, createdAt: number, chunks, children };
}

/** A child chunk at a position. */
export function childOf(chunk: string, position: number, id = `${chunk}-k${position}`): ChildRecord {
  return { id, segment_id: chunk, position, content: `child ${id}` };
}
