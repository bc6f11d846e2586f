import { deleteChunks, reindex } from "../servers/edits.js";
import type { ChunkRecord } from "../servers/json.js";
import { makeDocument, makeStatusEntry, Store, type TestDocument } from "../servers/store.js";

/** The ids in the examples of the documentation. */
export const ids = {
  dataset: "7f0c9d1e-52ab-4c3d-9e8f-0a1b2c3d4e5f",
  guide: "a8e0e5b5-78c6-4130-a5ce-25feb0e0b4ac",
  manual: "3c78b355-02b2-493f-8fdf-c51cba3a53a5",
  batch: "20250306120000123456",
} as const;

const indexedAt = 1_741_267_200;
const day = 86_400;

/** The knowledge base for the examples: a guide with parent and child chunks, and a plain-text manual. */
export interface ExampleKnowledge {
  readonly store: Store;
  readonly manual: TestDocument;
}

export function exampleKnowledge(): ExampleKnowledge {
  const store = new Store();
  const guide = named(ids.guide, "Guide.md", {
    chunks: 12,
    seed: 2,
    docForm: "hierarchical_model",
    childrenPerChunk: 3,
  });
  const manual = named(ids.manual, "Manual.md", { chunks: 40, seed: 1 });
  for (const [index, chunk] of manual.chunks.entries()) Object.assign(chunk, paragraph(index + 1));
  setText(manual.chunks[11], "Open the valve slowly, and never above 4.5 bar.", { updated_by: "someone" });
  setText(manual.chunks[39], "Ask for Ms Ito when the alarm does not stop.", { created_at: indexedAt + 30 * day });
  Object.assign(manual.chunks[20] ?? {}, { enabled: false, disabled_at: indexedAt + day });
  const batches = new Map([[ids.batch, [makeStatusEntry(ids.guide), makeStatusEntry(ids.manual)]]]);
  const documents = new Map([guide, manual].map((document) => [document.id, document]));
  const settings = { metadata: { doc_metadata: [] }, tags: { data: [] } };
  store.datasets.set(ids.dataset, { id: ids.dataset, name: "Manuals", documents, batches, ...settings });
  return { store, manual };
}

/** Re-indexes the manual, as if a person saved its chunk settings: all manual edits are lost. */
export function reindexManual({ manual }: ExampleKnowledge): void {
  setText(manual.chunks[11], "Open the valve slowly.", { updated_by: null });
  Object.assign(manual.chunks[20] ?? {}, { enabled: true, disabled_at: null });
  deleteChunks(manual, 39, 1);
  reindex(manual, 7);
}

function named(id: string, name: string, options: Parameters<typeof makeDocument>[0]): TestDocument {
  const document = { ...makeDocument(options), name };
  for (const chunk of document.chunks) chunk.document_id = id;
  return { ...document, id, details: { id, name } };
}

const paragraph = (position: number) => {
  const content = `Paragraph ${position} of the manual.`;
  const plain = {
    answer: null,
    keywords: ["manual"],
    error: null,
    summary: null,
    attachments: [],
    status: "completed",
  };
  const times = { created_at: indexedAt + position, updated_at: indexedAt + position, updated_by: null };
  return { ...plain, ...times, position, content, sign_content: content, enabled: true, disabled_at: null };
};

function setText(chunk: ChunkRecord | undefined, content: string, more: object): void {
  Object.assign(chunk ?? {}, { content, sign_content: content, ...more });
}
