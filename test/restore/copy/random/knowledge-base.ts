import { sentencesIn } from "../../../../src/demo/indexing.js";
import type { StoredChunk, StoredDataset, StoredDocument } from "../../../../src/demo/rows.js";
import type { DrawnChunk, DrawnDocument, Scenario } from "./scenario.js";

export const datasetId = idOf(1);
export const fieldId = idOf(2);

/** The dataset of a scenario, as a service stores it. */
export function storedDataset({ technique, tags, documents }: Scenario): StoredDataset {
  const row = {
    ...{ id: datasetId, name: "Random", description: "copied", permission: "all_team_members" },
    ...{ indexing_technique: technique, built_in_field_enabled: false },
    doc_metadata: [{ id: fieldId, name: "topic", type: "string", count: 0 }],
    tags: tags.map((name, at) => ({ id: idOf(10 + at), name, type: "knowledge" })),
  };
  return { row, documents: documents.map((drawn, at) => storedDocument(drawn, at, technique)), batches: [] };
}

function storedDocument(drawn: DrawnDocument, at: number, technique: Scenario["technique"]): StoredDocument {
  const id = idOf(100 * (at + 1));
  const { name, form, state, value } = drawn;
  const doc_metadata = value === null ? [] : [{ id: fieldId, name: "topic", type: "string", value }];
  const row = {
    ...{ id, name, doc_form: form, created_at: 1 + at, position: at + 1, word_count: 0, tokens: 0 },
    ...{ indexing_status: "completed", enabled: state !== "disabled", archived: state === "archived" },
    ...{ doc_language: "English", data_source_type: "upload_file", doc_metadata },
    document_process_rule: processRule(form),
  };
  const chunks = drawn.chunks.map((chunk, index) => storedChunk(chunk, { id, form, index, technique }));
  return { row, chunks, embedsChildren: form === "hierarchical_model" };
}

function processRule(form: DrawnDocument["form"]) {
  const segmentation = { separator: "\n\n", max_tokens: 500, chunk_overlap: 0 };
  const rules = { pre_processing_rules: [{ id: "remove_extra_spaces", enabled: true }], segmentation };
  if (form !== "hierarchical_model") return { id: idOf(3), mode: "custom", rules };
  const subchunk_segmentation = { separator: "\n", max_tokens: 200, chunk_overlap: 0 };
  return { id: idOf(4), mode: "hierarchical", rules: { ...rules, parent_mode: "paragraph", subchunk_segmentation } };
}

interface Place {
  /** The document id. */
  readonly id: string;
  readonly form: DrawnDocument["form"];
  readonly index: number;
  readonly technique: Scenario["technique"];
}

function storedChunk(drawn: DrawnChunk, { id: document_id, form, index, technique }: Place): StoredChunk {
  const id = `${document_id.slice(0, -2)}${String(index + 1).padStart(2, "0")}`;
  const { content, keywords, isEnabled } = drawn;
  const answer = form === "qa_model" ? drawn.answer : null;
  const row = {
    ...{ id, document_id, position: 3 * index + 1, content, answer, keywords, enabled: isEnabled },
    ...{ status: "completed", updated_by: null, disabled_by: null, created_at: 1, attachments: [] },
  };
  const made = technique === "high_quality" ? sentencesIn(content) : [];
  const children = form === "hierarchical_model" ? (drawn.children ?? made.map(automatic)) : [];
  return {
    row,
    children: children.map(({ text, isCustomized }, at) => ({
      ...{ id: `${id.slice(0, 8)}-0000-4000-9000-${id.slice(-10)}0${at}`, segment_id: id, position: at + 1 },
      ...{ content: text, type: isCustomized ? "customized" : "automatic", created_at: 1, updated_at: 1 },
    })),
  };
}

function automatic(text: string) {
  return { text, isCustomized: false };
}

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}
