import { sampleFacts } from "../files.js";
import {
  accounts,
  type ChildChunk,
  type Chunk,
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
import { type DatasetOutline, type DocumentOutline, documentId } from "./outline.js";
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
  wholeFrom,
} from "./prose.js";

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
  const row = {
    ...made.row,
    ...{ tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: sumOf(rows, "hit_count") },
    ...(error === null
      ? { indexing_status: "completed", display_status: "available" }
      : { indexing_status: "error", error, display_status: "error" }),
  };
  const ended = error === null ? { completed_at: createdAt + 60, indexing_latency: 60 } : {};
  return { row, details: { ...made.details, ...ended }, chunks, embedsChildren };
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
