import type { StoredChunk, StoredDocument } from "../../../src/demo/rows.js";
import { type WritableKnowledge, writableKnowledge } from "../../servers/writable/writable-knowledge.js";
import type { ManualEdit, Scenario } from "./scenario.js";

export const datasetId = "00000000-0000-4000-8000-000000000001";
export const documentId = "00000000-0000-4000-8000-000000000002";

/** The texts of a chunk; they identify it in these tests. */
export interface Texts {
  readonly content: string;
  /** Null except in qa_model documents. */
  readonly answer: string | null;
}

export interface StandingChild {
  readonly id: string;
  readonly content: string;
  readonly isCustomized: boolean;
}

/** A chunk of the document at some point of the story. */
export interface Standing extends Texts {
  readonly id: string;
  readonly keywords: readonly string[];
  readonly isEnabled: boolean;
  readonly children: readonly StandingChild[];
}

/** The document's fields about its first indexing, which ended at second 2. The chunks are older. */
const details = {
  ...{ data_source_info: { upload_file: { id: "00000000-0000-4000-8000-000000000003" } }, completed_at: 2 },
  document_process_rule: { mode: "custom", rules: { segmentation: { separator: "\n", max_tokens: 500 } } },
};

/**
 * A service with one document, and manual edits on it. All manual texts differ, except for chunks that the edits "add part" and "add
 * twin" make from another.
 */
export class KnowledgeBase {
  readonly demo: WritableKnowledge;
  readonly #form: Scenario["form"];
  #texts = 0;

  /** `withDetails`: the document reports its source file, its process rule and the time of its indexing. */
  constructor({ form, chunks }: Pick<Scenario, "form" | "chunks">, withDetails = false) {
    this.#form = form;
    const row = {
      ...{ id: documentId, name: "one.txt", doc_form: form, created_at: 1, word_count: 0, tokens: 0 },
      ...{ indexing_status: "completed", enabled: true, archived: false },
    };
    const document: StoredDocument = {
      row,
      chunks: Array.from({ length: chunks }, (_, index) => this.#storedChunk(index)),
      embedsChildren: form === "hierarchical_model",
      ...(withDetails ? { details } : {}),
    };
    const dataset = { id: datasetId, name: "Random", indexing_technique: "economy" };
    this.demo = writableKnowledge([{ row: dataset, documents: [document], batches: [] }], () => new Date(), {
      indexingSeconds: 0,
    });
  }

  get chunks(): readonly Standing[] {
    return this.demo.store.read(documentId).chunks.map(standing);
  }

  /** Makes a manual edit through the API of the service; does nothing if the chunk is missing or disabled. */
  async work(edit: ManualEdit): Promise<void> {
    if (!("at" in edit)) {
      const data = this.demo.writes.addChunks(datasetId, documentId, [this.#newTexts("added")]);
      if (edit.do === "add and disable") for (const { id } of data) await this.#change(id, { enabled: false });
      return;
    }
    const chunk = this.chunks[edit.at];
    if (chunk?.isEnabled) await this.#workOn(chunk, edit.do);
  }

  /** Changes a part of the source file; the next re-index reads it. */
  updateSource(at: number): void {
    const { store } = this.demo;
    const texts = store.source(documentId);
    store.setSource(
      documentId,
      texts.map((text, index) => (index === at ? { ...text, ...this.#newTexts("updated") } : text)),
    );
  }

  async #workOn({ id, children, ...texts }: Standing, what: ManualEdit["do"]): Promise<void> {
    const { writes } = this.demo;
    const path = [datasetId, documentId, id] as const;
    const [child] = children;
    if (what === "add part" || what === "add twin") {
      const content = what === "add twin" ? texts.content : texts.content.slice(texts.content.lastIndexOf("This is"));
      await writes.addChunks(datasetId, documentId, [{ content, answer: texts.answer }]);
    }
    if (what === "add child") await writes.addChild(path, this.#newText("child"));
    if (what === "edit child" && child) await writes.updateChild(path, child.id, this.#newText("child"));
    if (what === "edit keywords") {
      const { content, answer } = texts;
      await this.#change(id, { content, answer, keywords: [this.#newText("keyword")] });
    }
    if (what === "edit" || what === "edit and disable") await this.#change(id, this.#newTexts("edited"));
    if (what === "disable" || what === "edit and disable") await this.#change(id, { enabled: false });
  }

  async #change(id: string, change: { readonly enabled?: boolean } & Partial<Texts & { keywords: string[] }>) {
    await this.demo.writes.updateChunk(datasetId, documentId, id, change);
  }

  #storedChunk(index: number): StoredChunk {
    const id = idOf(100 + index);
    const texts = this.#newTexts("automatic");
    const children = this.#form === "hierarchical_model" ? [0, 1] : [];
    const row = {
      ...{ id, document_id: documentId, position: index + 1, ...texts, keywords: [], enabled: true },
      ...{ status: "completed", updated_by: null, disabled_by: null, created_at: 1, attachments: [] },
    };
    return {
      row,
      children: children.map((place) => ({
        ...{ id: idOf(1_000 + 10 * index + place), segment_id: id, position: place + 1 },
        ...{ content: this.#newText("automatic"), type: "automatic", created_at: 1, updated_at: 1 },
      })),
    };
  }

  #newTexts(kind: string): Texts {
    const content = `${this.#newText(kind)} ${this.#newText(kind)}`;
    return { content, answer: this.#form === "qa_model" ? this.#newText(kind) : null };
  }

  /** A sentence with a beginning that no other text has. */
  #newText(kind: string): string {
    this.#texts++;
    return `This is the ${kind} sentence number ${this.#texts}.`;
  }
}

function standing({ row, children }: StoredChunk): Standing {
  return {
    id: row.id,
    content: row.content,
    answer: typeof row.answer === "string" && row.answer !== "" ? row.answer : null,
    keywords: Array.isArray(row.keywords) ? row.keywords.map(String) : [],
    isEnabled: row.enabled !== false,
    children: children.map(({ id, content, type }) => ({ id, content, isCustomized: type === "customized" })),
  };
}

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}
