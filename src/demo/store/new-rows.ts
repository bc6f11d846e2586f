import { hash } from "node:crypto";
import type { ChildChunk, Chunk, Dataset, Document } from "../knowledge.js";
import { stableId } from "../sample/outline.js";
import { characters } from "../sample/prose.js";

/** A document that is new. `createdAt` in Unix seconds; `by` is an account. */
interface NewDocument {
  readonly id: string;
  readonly name: string;
  readonly form: string;
  readonly position: number;
  readonly createdAt: number;
  readonly by: string;
  /** The file that it was made from. */
  readonly file: { readonly id: string; readonly name: string };
}

/** A document as it is listed right after it was created: it is not indexed yet. */
export function newDocument({ id, name, form, position, createdAt, by, file }: NewDocument): Document {
  return {
    id,
    position,
    data_source_type: "upload_file",
    data_source_info: { upload_file_id: file.id },
    data_source_detail_dict: { upload_file: file },
    dataset_process_rule_id: ruleIdOf(id),
    name,
    created_from: "api",
    created_by: by,
    created_at: createdAt,
    tokens: 0,
    indexing_status: "waiting",
    error: null,
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    archived: false,
    display_status: "queuing",
    word_count: 0,
    hit_count: 0,
    doc_form: form,
    doc_metadata: [],
    summary_index_status: null,
    need_summary: false,
  };
}

/** The facts that only the details of a document tell. Times in Unix seconds; an indexing sets those that are null. */
export interface DocumentDetails {
  readonly data_source_info: { readonly upload_file: NewDocument["file"] };
  readonly doc_language: string;
  readonly doc_type: string | null;
  readonly document_process_rule: ProcessRule & { readonly id: string };
  readonly updated_at: number;
  readonly completed_at: number | null;
  readonly indexing_latency: number | null;
}

/** The details of a document that is not indexed yet. */
export function newDetails({ id, createdAt, file }: NewDocument, language: string, rule: ProcessRule): DocumentDetails {
  return {
    data_source_info: { upload_file: file },
    doc_language: language,
    doc_type: null,
    document_process_rule: { id: ruleIdOf(id), ...rule },
    updated_at: createdAt,
    completed_at: null,
    indexing_latency: null,
  };
}

function ruleIdOf(documentId: string): string {
  return stableId(`${documentId}/rule`);
}

/** A dataset that is new. `time` in Unix seconds; `by` is an account. */
interface NewDataset {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly technique: string | null;
  readonly time: number;
  readonly by: string;
}

interface EmbeddingModel {
  readonly embedding_model: unknown;
  readonly embedding_model_provider: unknown;
}

const usualModel = {
  embedding_model: "text-embedding-3-small",
  embedding_model_provider: "openai",
};

/** A dataset without documents, with the defaults of the service. `model` is the one for its technique. */
export function newDataset(
  { id, name, description, technique, time, by }: NewDataset,
  model: EmbeddingModel = usualModel,
): Dataset {
  return {
    id,
    name,
    description,
    provider: "vendor",
    permission: "only_me",
    data_source_type: null,
    indexing_technique: technique,
    app_count: 0,
    document_count: 0,
    word_count: 0,
    created_by: by,
    author_name: "Sample author",
    created_at: time,
    updated_by: by,
    updated_at: time,
    ...embeddingOf(technique, model),
    embedding_available: true,
    retrieval_model_dict: {
      search_method: technique === "economy" ? "keyword_search" : "semantic_search",
      reranking_enable: false,
      reranking_mode: null,
      reranking_model: { reranking_provider_name: "", reranking_model_name: "" },
      weights: null,
      top_k: 4,
      score_threshold_enabled: false,
      score_threshold: null,
    },
    summary_index_setting: null,
    tags: [],
    doc_form: null,
    doc_metadata: [],
    built_in_field_enabled: false,
    pipeline_id: null,
    runtime_mode: "general",
    total_documents: 0,
    total_available_documents: 0,
    enable_api: true,
    is_multimodal: false,
  };
}

/** The default embedding model: the first of those that there are. */
export function defaultModel(models: readonly string[] | null) {
  return { ...usualModel, embedding_model: models?.[0] ?? usualModel.embedding_model };
}

/** The model of a dataset with this indexing technique: only high-quality ones embed. */
export function embeddingOf(technique: unknown, model: EmbeddingModel): EmbeddingModel {
  return technique === "high_quality" ? model : { embedding_model: null, embedding_model_provider: null };
}

/** The texts of a chunk. The answer counts in documents of questions and answers alone. */
export interface ChunkText {
  readonly content: string;
  readonly answer?: string | null;
  readonly keywords?: readonly string[] | null;
}

/** A place in a document for a row that is new. `time` in Unix seconds; `by` is an account. */
interface NewPosition {
  readonly id: string;
  readonly position: number;
  readonly time: number;
  readonly by: unknown;
}

/** Whether a document consists of questions and answers. */
export function isQa({ doc_form }: Document): boolean {
  return doc_form === "qa_model";
}

/** A chunk as the service stores one that is added; it has no children yet. */
export function newChunk(document: Document, text: ChunkText, countsTokens: boolean, place: NewPosition): Chunk {
  const { id, position, time, by } = place;
  const answer = isQa(document) ? (text.answer ?? null) : "";
  return {
    id,
    position,
    document_id: document.id,
    content: text.content,
    sign_content: text.content,
    answer,
    ...countsOf(text.content, answer, countsTokens),
    keywords: text.keywords ?? [],
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", text.content),
    hit_count: 0,
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    status: "completed",
    created_by: by,
    created_at: time,
    updated_at: time,
    updated_by: null,
    indexing_at: time,
    completed_at: time,
    error: null,
    stopped_at: null,
    child_chunks: [],
    attachments: [],
    summary: null,
  };
}

/** The counts of a chunk; three characters are taken for a token. */
export function countsOf(content: string, answer: unknown, countsTokens: boolean) {
  const word_count = characters(content) + (typeof answer === "string" ? characters(answer) : 0);
  return { word_count, tokens: countsTokens ? Math.ceil(word_count / 3) : 0 };
}

/** A child chunk as it was made, without edits. */
export function newChild(
  segmentId: string,
  content: string,
  type: "automatic" | "customized",
  { id, position, time }: Omit<NewPosition, "by">,
): ChildChunk {
  const word_count = characters(content);
  return { id, segment_id: segmentId, content, position, word_count, type, created_at: time, updated_at: time };
}

/** The way in which the texts of a document are cleaned and cut, as the service stores and answers it. */
export interface ProcessRule {
  readonly mode: "automatic" | "custom" | "hierarchical";
  readonly rules: ProcessRules;
}

interface ProcessRules {
  readonly pre_processing_rules: readonly { readonly id: string; readonly enabled: boolean }[];
  readonly segmentation: Segmentation;
  readonly parent_mode?: "full-doc" | "paragraph" | null | undefined;
  readonly subchunk_segmentation?: Segmentation | null | undefined;
}

/** The automatic rule alone has a `delimiter` in place of a `separator`. */
interface Segmentation {
  readonly separator?: string | null | undefined;
  readonly delimiter?: string;
  readonly max_tokens: number;
  readonly chunk_overlap?: number | null | undefined;
}

const preProcessing = [
  { id: "remove_extra_spaces", enabled: true },
  { id: "remove_urls_emails", enabled: false },
] as const;

/** The rule that stands where none is sent. */
export const automaticRule: ProcessRule = {
  mode: "automatic",
  rules: {
    pre_processing_rules: preProcessing,
    segmentation: { delimiter: "\n", max_tokens: 500, chunk_overlap: 50 },
  },
};

/** The rule of a sample document of this form. */
export function sampleRule(form: string, embedsChildren: boolean): ProcessRule {
  const segmentation = { separator: "\n\n", max_tokens: 1024, chunk_overlap: 50 };
  const rules = { pre_processing_rules: preProcessing, segmentation };
  if (form !== "hierarchical_model") return { mode: "custom", rules };
  const children = { separator: "\n", max_tokens: 512, chunk_overlap: 0 };
  const parent_mode = embedsChildren ? "paragraph" : "full-doc";
  return { mode: "hierarchical", rules: { ...rules, parent_mode, subchunk_segmentation: children } };
}

/** Whether the chunks that a rule makes embed their children: those of paragraph parents do. */
export function embedsChildren({ mode, rules }: ProcessRule): boolean {
  return mode === "hierarchical" && rules.parent_mode === "paragraph";
}
