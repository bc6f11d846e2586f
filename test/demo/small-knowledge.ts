import { demoKnowledge } from "../../src/demo/demo-knowledge.js";
import { DocumentStore } from "../../src/demo/document-store.js";
import type { Knowledge } from "../../src/demo/knowledge.js";
import type { Chunk, StoredDataset } from "../../src/demo/rows.js";

/** A UUID that ends with the number. */
export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

export const datasetId = uuid(1);
export const documentId = uuid(2);
export const segments = `/datasets/${datasetId}/documents/${documentId}/segments`;

export type ChunkSketch = Partial<Chunk> & { readonly childContents?: readonly string[] };

/** The settings of a small dataset and its only document. */
export interface SmallShape {
  readonly form?: string;
  readonly technique?: string;
  readonly embedsChildren?: boolean;
}

/** A knowledge base of one dataset with one document. Chunk ids start at uuid(101), child chunk ids at uuid(1001). */
export function smallKnowledge(sketches: readonly ChunkSketch[], clock = () => new Date()): Knowledge {
  return demoKnowledge(new DocumentStore(smallDatasets(sketches), clock)).reads;
}

/** The datasets of that knowledge base, with the number of words and tokens in each row. */
export function smallDatasets(
  sketches: readonly ChunkSketch[],
  { form = "text_model", technique = "economy", embedsChildren = false }: SmallShape = {},
): readonly StoredDataset[] {
  const chunks = sketches.map(({ childContents = [], ...fields }, index) => ({
    row: { id: uuid(101 + index), position: index + 1, content: `chunk ${index + 1}`, status: "completed", ...fields },
    children: childContents.map((content, child) => ({
      id: uuid(1001 + child),
      position: child + 1,
      content,
      type: "automatic",
      updated_at: 1,
    })),
  }));
  const row = { id: documentId, name: "one.txt", doc_form: form, created_at: 1, word_count: 0, tokens: 0 };
  return [
    {
      row: { id: datasetId, name: "Small", indexing_technique: technique, word_count: 0 },
      documents: [{ row, chunks, embedsChildren }],
      batches: [],
    },
  ];
}
