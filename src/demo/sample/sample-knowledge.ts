import { type DemoKnowledge, demoKnowledge } from "../demo-knowledge.js";
import { DocumentStore } from "../document-store.js";
import type { Listed } from "../knowledge.js";
import {
  accounts,
  type Batch,
  builtInFields,
  type Chunk,
  countsOf,
  type Document,
  newChild,
  newChunk,
  type StoredChunk,
  type StoredDataset,
  type StoredDocument,
  stableId,
  sumOf,
} from "../rows.js";
import { type DatasetOutline, type DocumentOutline, outlines } from "./outlines.js";
import { english, keywords, languages, question, type Random, randomFrom, sentences, wholeFrom } from "./prose.js";

/**
 * The sample data: about 5,000 chunks and 3,000 child chunks, always the same until something is written or a document is
 * re-indexed. Only the batch in progress changes: it uses the clock and counts the reads of this instance.
 */
export function sampleKnowledge(clock: () => Date): DemoKnowledge {
  const datasets = outlines.map((outline) => buildDataset(outline, clock));
  return demoKnowledge(new DocumentStore(datasets, clock));
}

/** The id of a sample dataset. */
export function datasetId(dataset: DatasetOutline): string {
  return stableId(dataset.name);
}

/** The id of a sample document. */
export function documentId(dataset: DatasetOutline, documentName: string): string {
  return stableId(`${dataset.name}/${documentName}`);
}

/** Builds a dataset with all its documents. The store counts them. */
export function buildDataset(outline: DatasetOutline, clock: () => Date): StoredDataset {
  const documents = outline.documents.map((document) => buildDocument(outline, document));
  const batches = outline.batches.map(({ id, documents: names, underWay }): Batch => {
    const members = documents.filter(({ row }) => names.includes(row.name));
    return underWay ? batchUnderWay(id, members, clock) : { id, entries: () => members.map(restingEntry) };
  });
  const { name, description, technique } = outline;
  const [isEmbedded, by] = [technique === "high_quality", accounts.author];
  const time = Math.min(...documents.map(({ row }) => row.created_at));
  const row = {
    ...{ id: datasetId(outline), name, description, provider: "vendor", permission: "all_team_members" },
    ...{ data_source_type: "upload_file", indexing_technique: technique, app_count: 0, document_count: 0 },
    ...{ word_count: 0, created_by: by, author_name: authorName, created_at: time, updated_by: by, updated_at: time },
    embedding_model: isEmbedded ? "text-embedding-3-small" : null,
    embedding_model_provider: isEmbedded ? "openai" : null,
    embedding_available: true,
    retrieval_model_dict: {
      search_method: isEmbedded ? "semantic_search" : "keyword_search",
      ...{ reranking_enable: false, reranking_mode: null },
      reranking_model: { reranking_provider_name: "", reranking_model_name: "" },
      ...{ weights: null, top_k: 4, score_threshold_enabled: false, score_threshold: null },
    },
    ...{ summary_index_setting: null, tags: [], doc_form: null, doc_metadata: builtInFields },
    ...{ built_in_field_enabled: true, pipeline_id: null, runtime_mode: "general", total_documents: 0 },
    ...{ total_available_documents: 0, enable_api: true, is_multimodal: false },
  };
  return { row, documents, batches };
}

const authorName = "Sample author";
const firstDay = Date.UTC(2025, 0, 6, 8) / 1000;

/** Builds a document with all its chunks. */
export function buildDocument(dataset: DatasetOutline, outline: DocumentOutline): StoredDocument {
  const { name, form, error = null, embedsChildren = false } = outline;
  const [id, by] = [documentId(dataset, name), accounts.author];
  const position = dataset.documents.indexOf(outline) + 1;
  const created_at = firstDay + position * 86_400;
  const countsTokens = dataset.technique === "high_quality";
  const source = { document: { id, doc_form: form, created_at }, outline, countsTokens };
  const random = randomFrom(id);
  const chunks = Array.from({ length: outline.chunkCount }, (_, index) => buildChunk(source, random, index + 1));
  const rows = chunks.map(({ row }) => row);
  const state = error === null ? "completed" : "error";
  const file = {
    ...{ id: stableId(`${id}/file`), name, size: Buffer.byteLength(sampleText(id, name)) },
    ...{ extension: name.split(".").at(-1) ?? "", mime_type: "text/plain", created_by: by, created_at },
  };
  const rule = { id: stableId(`${id}/rule`), ...sampleRule(form, embedsChildren) };
  const metadata = [name, authorName, `${created_at}.0`, `${created_at}.0`, "file_upload"];
  const row = {
    ...{ id, position, data_source_type: "upload_file", data_source_info: { upload_file_id: file.id } },
    ...{ data_source_detail_dict: { upload_file: file }, dataset_process_rule_id: rule.id, name, created_from: "api" },
    ...{ created_by: by, created_at, tokens: sumOf(rows, "tokens"), indexing_status: state, error, enabled: true },
    ...{ disabled_at: null, disabled_by: null, archived: false },
    ...{ display_status: error === null ? "available" : "error", word_count: sumOf(rows, "word_count") },
    ...{ hit_count: sumOf(rows, "hit_count"), doc_form: form },
    doc_metadata: builtInFields.map((field, index) => ({ ...field, value: metadata[index] })),
    ...{ summary_index_status: null, need_summary: false },
  };
  const details = {
    ...{ data_source_info: { upload_file: file }, doc_language: "English", doc_type: null },
    ...{ document_process_rule: rule, updated_at: created_at },
    completed_at: error === null ? created_at + 60 : null,
    indexing_latency: error === null ? 60 : null,
  };
  return { row, details, chunks, embedsChildren };
}

/** The file that a document was made from: some kilobytes of text. The demo gives only its size. */
export function sampleText(id: string, name: string): string {
  const lines = 100 + (Number.parseInt(id.slice(0, 4), 16) % 400 || 0);
  return Array.from({ length: lines }, (_, at) => `${name}: line ${at + 1} of the original file\n`).join("");
}

/** How a document of this form was cleaned and split. */
function sampleRule(form: string, embedsChildren: boolean) {
  const pre_processing_rules = [
    { id: "remove_extra_spaces", enabled: true },
    { id: "remove_urls_emails", enabled: false },
  ];
  const rules = { pre_processing_rules, segmentation: { separator: "\n\n", max_tokens: 1024, chunk_overlap: 50 } };
  if (form !== "hierarchical_model") return { mode: "custom", rules };
  const subchunk_segmentation = { separator: "\n", max_tokens: 512, chunk_overlap: 0 };
  const parent_mode = embedsChildren ? "paragraph" : "full-doc";
  return { mode: "hierarchical", rules: { ...rules, parent_mode, subchunk_segmentation } };
}

/** Seconds after which a document is split: the service makes all its chunks before it indexes the first. */
const splitAfter = 9;

/** The document to build chunks for. */
interface ChunkSource {
  readonly document: Pick<Document, "id" | "doc_form" | "created_at">;
  readonly outline: DocumentOutline;
  readonly countsTokens: boolean;
}

/** Builds chunk number `number` (from 1) with its child chunks. Chunks must be built in order, because they share random numbers. */
function buildChunk({ document, outline, countsTokens }: ChunkSource, random: Random, number: number): StoredChunk {
  const { form, topic, languages: turns = languages, peculiarities = [] } = outline;
  const language = turns[(number - 1) % turns.length] ?? english;
  const childCount = outline.childCount?.(number) ?? 0;
  const prose = () =>
    form === "qa_model"
      ? [question(random, language)]
      : sentences(random, language, topic, Math.max(childCount, wholeFrom(random, 2, 6)));
  const text = outline.texts?.[number - 1];
  const parts = text === undefined ? prose() : [text];
  const answer = form === "qa_model" ? sentences(random, language, topic, 3).join(language.space) : "";
  const texts = { content: parts.join(language.space), answer, keywords: keywords(random, language, topic) };
  const id = stableId(`${document.id}/${number}`);
  const fraction = outline.fractionalTimes ? ((number * 7919) % 1_000_000) / 1_000_000 : 0; // six digits, as in a database
  const time = document.created_at + splitAfter + fraction;
  const children = parts.slice(0, childCount).map((part, index) => {
    // Child chunks that people made are in English, so that a reader can judge what a re-index loses.
    const type = language === english && index % 7 === 2 ? "customized" : "automatic";
    return newChild(id, part, type, { id: stableId(`${id}/${index + 1}`), position: index + 1, time });
  });
  const plain: Chunk = {
    ...newChunk(document, texts, countsTokens, { id, position: number, time, by: accounts.author }),
    ...countsOf(texts.content, null, countsTokens),
    ...{ hit_count: Math.max(0, wholeFrom(random, -20, 20)), indexing_at: time + 1, completed_at: time + 2 },
    child_chunks: outline.embedsChildren ? children : [],
  };
  return { row: peculiarities.reduce((chunk, peculiarity) => peculiarity(chunk, number), plain), children };
}

/** The entry of a document in a finished batch. Chunks being replaced are not counted. */
export function restingEntry({ row, chunks }: StoredDocument): Listed {
  const { id, created_at, error = null } = row;
  const counted = chunks.filter((chunk) => chunk.row.status !== "re_segment");
  return {
    id,
    indexing_status: error === null ? "completed" : "error",
    ...{ processing_started_at: created_at, parsing_completed_at: created_at + 4 },
    ...{ cleaning_completed_at: created_at + 5, splitting_completed_at: created_at + 9 },
    completed_at: error === null ? created_at + 60 : null,
    ...{ paused_at: null, error, stopped_at: error === null ? null : created_at + 30 },
    completed_segments: counted.filter((chunk) => chunk.row.status === "completed").length,
    total_segments: counted.length,
  };
}

const readsToSplit = 5;
const readsToFinish = 20;

/**
 * A batch whose counts grow with each read until it is completed after 20 reads. No count ever decreases. Only the progress is
 * simulated: all chunks exist from the start, so that every dump of them is the same.
 */
function batchUnderWay(id: string, documents: readonly StoredDocument[], clock: () => Date): Batch {
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const startedAt = now();
  let reads = 0;
  let splitAt: number | null = null;
  let completedAt: number | null = null;
  return {
    id,
    entries() {
      reads = Math.min(reads + 1, readsToFinish);
      if (reads > readsToSplit) splitAt ??= now();
      if (reads === readsToFinish) completedAt ??= now();
      const stage = completedAt !== null ? "completed" : splitAt !== null ? "indexing" : "splitting";
      return documents.map(({ row, chunks }) => ({
        ...{ id: row.id, indexing_status: stage, processing_started_at: startedAt },
        ...{ parsing_completed_at: startedAt, cleaning_completed_at: startedAt, splitting_completed_at: splitAt },
        ...{ completed_at: completedAt, paused_at: null, error: null, stopped_at: null },
        completed_segments: Math.floor((chunks.length * reads) / readsToFinish),
        total_segments: Math.ceil((chunks.length * Math.min(reads, readsToSplit)) / readsToSplit),
      }));
    },
  };
}
