import type { Details } from "../knowledge.js";
import {
  accounts,
  builtInFields,
  type ChildChunk,
  type Chunk,
  characters,
  countsOf,
  type Document,
  newChild,
  newChunk,
  newDocument,
  type StoredChunk,
  type StoredDocument,
  stableId,
  sumOf,
} from "../rows.js";
import {
  english,
  keywords,
  type Language,
  languages,
  paragraph,
  question,
  type Random,
  randomFrom,
  sentences,
  type Topic,
  wholeFrom,
} from "./prose.js";

export interface DatasetOutline {
  readonly name: string;
  readonly description: string;
  /** Economy datasets count no tokens. */
  readonly technique: "high_quality" | "economy";
  readonly documents: readonly DocumentOutline[];
  readonly batches: readonly BatchOutline[];
}

export interface DocumentOutline {
  /** A file name, unique in its dataset, because ids derive from it. */
  readonly name: string;
  readonly form: "text_model" | "qa_model" | "hierarchical_model";
  readonly topic: Topic;
  /** The languages of the chunks, in turn; default: the languages of the sample. */
  readonly languages?: readonly Language[];
  readonly chunkCount: number;
  /** The number of child chunks of a chunk (numbered from 1); absent: none. */
  readonly childCount?: (number: number) => number;
  /** Whether chunks embed their children, as with paragraph parents. */
  readonly embedsChildren?: boolean;
  /** Contents to use verbatim instead of prose. */
  readonly texts?: readonly string[];
  readonly peculiarities?: readonly Peculiarity[];
  /** Whether times have a fraction of a second. */
  readonly fractionalTimes?: boolean;
  /** Why the document could not be indexed. */
  readonly error?: string;
}

/** Documents are named as in their dataset's outline. */
export interface BatchOutline {
  readonly id: string;
  readonly documents: readonly string[];
  readonly underWay: boolean;
}

/** The id of a sample dataset. */
export function datasetId(dataset: DatasetOutline): string {
  return stableId(dataset.name);
}

/** The id of a sample document. */
export function documentId(dataset: DatasetOutline, documentName: string): string {
  return stableId(`${dataset.name}/${documentName}`);
}

const firstDay = Date.UTC(2025, 0, 6, 8) / 1000;
const day = 86_400;

/** Builds a document with all its chunks. The result is always the same. */
export function buildDocument(dataset: DatasetOutline, outline: DocumentOutline): StoredDocument {
  const { name, form, error = null, embedsChildren = false } = outline;
  const id = documentId(dataset, name);
  const position = dataset.documents.indexOf(outline) + 1;
  const createdAt = firstDay + position * day;
  const by = accounts.author;
  const file = sampleFacts(stableId(`${id}/file`), { id, name, created_by: by, created_at: createdAt });
  const rule = sampleRule(form, embedsChildren);
  const made = newDocument({ id, name, form, position, createdAt, by, file, language: "English", rule });
  const source = { document: made.row, outline, countsTokens: dataset.technique === "high_quality" };
  const random = randomFrom(id);
  const chunks = Array.from({ length: outline.chunkCount }, (_, index) => buildChunk(source, random, index + 1));
  const rows = chunks.map(({ row }) => row);
  const metadata = [name, "Sample author", `${createdAt}.0`, `${createdAt}.0`, "file_upload"];
  const row = {
    ...made.row,
    doc_metadata: builtInFields.map((field, index) => ({ ...field, value: metadata[index] })),
    ...{ tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: sumOf(rows, "hit_count") },
    ...(error === null
      ? { indexing_status: "completed", display_status: "available" }
      : { indexing_status: "error", error, display_status: "error" }),
  };
  const ended = error === null ? { completed_at: createdAt + 60, indexing_latency: 60 } : {};
  return { row, details: { ...made.details, ...ended }, chunks, embedsChildren };
}

/** The facts of the file that a sample document was made from. */
export function sampleFacts(id: string, document: Details) {
  const name = String(document.name);
  const [created_by, created_at] = [String(document.created_by), Number(document.created_at)];
  const facts = { id, name, size: Buffer.byteLength(sampleText(document)), extension: name.split(".").at(-1) ?? "" };
  return { ...facts, mime_type: "text/plain", created_by, created_at };
}

/** The text of that file, of some kilobytes. The demo gives only its size. */
export function sampleText({ id, name }: Details): string {
  const lines = 100 + (Number.parseInt(String(id).slice(0, 4), 16) % 400 || 0);
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
  readonly document: Document;
  readonly outline: DocumentOutline;
  readonly countsTokens: boolean;
}

/** Builds chunk number `number` (from 1) with its child chunks. Chunks must be built in order, because they share random numbers. */
function buildChunk(source: ChunkSource, random: Random, number: number): StoredChunk {
  const { outline, document, countsTokens } = source;
  const language = languageOf(outline, number);
  const id = stableId(`${document.id}/${number}`);
  const childCount = outline.childCount?.(number) ?? 0;
  const parts = partsOf(outline, random, number, { language, least: childCount });
  const fraction = outline.fractionalTimes ? ((number * 7919) % 1_000_000) / 1_000_000 : 0; // six digits, as in a database
  const time = document.created_at + splitAfter + fraction;
  const children = parts.slice(0, childCount).map((part, index) => childRow(id, index + 1, part, { time, language }));
  const content = paragraph(language, parts);
  const answer = outline.form === "qa_model" ? paragraph(language, sentences(random, language, outline.topic, 3)) : "";
  const text = { content, answer, keywords: keywords(random, language, outline.topic) };
  const plain: Chunk = {
    ...newChunk(document, text, countsTokens, { id, position: number, time, by: accounts.author }),
    ...countsOf(content, null, countsTokens),
    ...{ hit_count: Math.max(0, wholeFrom(random, -20, 20)), indexing_at: time + 1, completed_at: time + 2 },
    child_chunks: outline.embedsChildren ? children : [],
  };
  const row = (outline.peculiarities ?? []).reduce((chunk, peculiarity) => peculiarity(chunk, number), plain);
  return { row, children };
}

function languageOf({ languages: turns = languages }: DocumentOutline, number: number): Language {
  return turns[(number - 1) % turns.length] ?? english;
}

/** The sentences of a chunk, each of which can become a child. */
function partsOf(
  { texts, form, topic }: DocumentOutline,
  random: Random,
  number: number,
  { language, least }: { readonly language: Language; readonly least: number },
): readonly string[] {
  const text = texts?.[number - 1];
  if (text !== undefined) return [text];
  if (form === "qa_model") return [question(random, language)];
  return sentences(random, language, topic, Math.max(least, wholeFrom(random, 2, 6)));
}

/** Manually created child chunks are in English, so that a reader can judge what a re-index loses. */
function childRow(
  segmentId: string,
  position: number,
  content: string,
  { time, language }: { readonly time: number; readonly language: Language },
): ChildChunk {
  const type = language === english && position % 7 === 3 ? "customized" : "automatic";
  return newChild(segmentId, content, type, { id: stableId(`${segmentId}/${position}`), position, time });
}

type Peculiarity = (chunk: Chunk, number: number) => Chunk;

export const tooLong = "Embedding failed: the input is too long";

const disabledAt = Date.UTC(2025, 4, 1, 8) / 1000;

/** Links to files in some contents, some directly followed by another. */
export const withLinks: Peculiarity = (chunk, number) => {
  if (number % 12 !== 0) return chunk;
  const file = `/files/${stableId(`${chunk.id}/figure`)}`;
  const links = [
    `![Figure ${number}](${file}/image-preview)`,
    `[Data sheet](${file}/file-preview)`,
    `[Download](${file}/file-preview) or see ![Figure ${number}](${file}/image-preview)`,
    `https://kb.example.com${file}/image-preview${file}/file-preview`,
  ];
  const content = `${chunk.content}\n\n${links[(number / 12) % links.length]}`;
  return { ...chunk, content, sign_content: content, word_count: characters(content) };
};

/** Attached files; two on some chunks. */
export const withAttachments: Peculiarity = (chunk, number) => {
  if (number % 10 !== 3) return chunk;
  const attachments = Array.from({ length: number % 20 === 3 ? 2 : 1 }, (_, index) => {
    const id = stableId(`${chunk.id}/attachment/${index}`);
    const name = `Wiring "${number}", sheet ${index + 1}.png`;
    const source_url = `/files/${id}/${index === 0 ? "file-preview" : "image-preview"}`;
    return { id, name, size: 20_480 + number, extension: "png", mime_type: "image/png", source_url };
  });
  return { ...chunk, attachments };
};

/** Summaries: a string on some chunks, an object on a few. */
export const withSummaries: Peculiarity = (chunk, number) => {
  if (number % 8 !== 5) return chunk;
  const text = `In short: ${chunk.content.slice(0, 40)}`;
  return { ...chunk, summary: number % 40 === 21 ? { text, model: "summary-small", tokens: 12 } : text };
};

/** Edited chunks and disabled chunks. */
export const withEdits: Peculiarity = (chunk, number) => {
  if (number % 50 === 7) return { ...chunk, enabled: false, disabled_at: disabledAt, disabled_by: accounts.editor };
  return number % 20 === 9 ? { ...chunk, updated_at: disabledAt, updated_by: accounts.editor } : chunk;
};

/** Nulls where the documentation promises a value. */
export const withNulls: Peculiarity = (chunk, number) =>
  number % 9 === 4 ? { ...chunk, answer: null, keywords: null, index_node_id: null, index_node_hash: null } : chunk;

/** An empty `sign_content`. */
export const withoutSignedCopy: Peculiarity = (chunk) => ({ ...chunk, sign_content: "" });

/** A field that no documentation of the service mentions. */
export function withLanguageHint(tagOf: (number: number) => string): Peculiarity {
  return (chunk, number) => (number % 3 === 0 ? { ...chunk, language_hint: tagOf(number) } : chunk);
}

/** Removes the fields that older servers lacked: signed copies, embedded children, attachments and summaries. */
export const asOlderServer: Peculiarity = (chunk) => {
  const { sign_content, updated_at, updated_by, child_chunks, attachments, summary, ...older } = chunk;
  return { ...older, answer: null };
};

/** Every status in turn. A chunk being replaced has the same position as the one after it. */
export const inEveryStatus: Peculiarity = (chunk, number) => {
  const unfinished = { ...chunk, index_node_hash: null, completed_at: null };
  switch (number % 8) {
    case 1:
      return { ...unfinished, status: "waiting", indexing_at: null };
    case 2:
      return { ...unfinished, status: "indexing" };
    case 3:
      return { ...unfinished, status: "error", error: tooLong, stopped_at: disabledAt };
    case 4:
      return { ...unfinished, status: "error", error: { code: "rate_limit", retry_after: 1.5, detail: [null, "\n"] } };
    case 5:
      return { ...chunk, status: "re_segment", position: number + 1 };
    default:
      return chunk;
  }
};
