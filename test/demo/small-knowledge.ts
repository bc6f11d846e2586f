import { indexKnowledge } from "../../src/demo/index-knowledge.js";
import type { Chunk, Knowledge } from "../../src/demo/knowledge.js";

/** A UUID that ends in the number. */
export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

export const datasetId = uuid(1);
export const documentId = uuid(2);
export const segments = `/datasets/${datasetId}/documents/${documentId}/segments`;

export type ChunkSketch = Partial<Chunk> & { readonly childContents?: readonly string[] };

/** One dataset with one document; its chunks have ids from uuid(101) on, their children from uuid(1001) on. */
export function smallKnowledge(sketches: readonly ChunkSketch[]): Knowledge {
  const chunks = sketches.map(({ childContents = [], ...fields }, index) => ({
    row: { id: uuid(101 + index), position: index + 1, content: `chunk ${index + 1}`, status: "completed", ...fields },
    children: childContents.map((content, child) => ({ id: uuid(1001 + child), position: child + 1, content })),
  }));
  return indexKnowledge([
    {
      row: { id: datasetId, name: "Small" },
      documents: [{ row: { id: documentId, name: "one.txt", doc_form: "text_model", created_at: 1 }, chunks }],
      batches: [],
    },
  ]);
}
