import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { ChildChunk, Chunk, Document } from "../knowledge.js";
import { type DocumentDetails, newDetails, newDocument, sampleRule } from "../store/new-rows.js";
import { accounts, type DatasetOutline, type DocumentOutline, documentId, sampleFacts, stableId } from "./outline.js";
import {
  characters,
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

/** Builds a document with all its chunks; it is the same whenever and wherever it is built. */
export function buildDocument(dataset: DatasetOutline, outline: DocumentOutline): StoredDocument {
  const id = documentId(dataset, outline.name);
  const position = dataset.documents.indexOf(outline) + 1;
  const createdAt = firstDay + position * day;
  const countsTokens = dataset.technique === "high_quality";
  const source = { documentId: id, outline, countsTokens, createdAt, random: randomFrom(id) };
  const chunks = Array.from({ length: outline.chunkCount }, (_, index) => buildChunk(source, index + 1));
  const { name, form } = outline;
  const by = accounts.author;
  const file = sampleFacts({ id, name, fileId: stableId(`${id}/file`), by, createdAt });
  const placed = { id, name, form, position, createdAt, by, file };
  const embedsChildren = outline.embedsChildren ?? false;
  return {
    row: documentRow(outline, newDocument(placed), chunks),
    details: documentDetails(outline, newDetails(placed, "English", sampleRule(form, embedsChildren))),
    chunks,
    embedsChildren,
  };
}

function documentRow(outline: DocumentOutline, row: Document, chunks: readonly StoredChunk[]): Document {
  const error = outline.error ?? null;
  const rows = chunks.map((chunk) => chunk.row);
  return {
    ...row,
    tokens: sumOf(rows, "tokens"),
    indexing_status: error === null ? "completed" : "error",
    error,
    display_status: error === null ? "available" : "error",
    word_count: sumOf(rows, "word_count"),
    hit_count: sumOf(rows, "hit_count"),
  };
}

/** Every document of the sample took a minute. */
function documentDetails({ error }: DocumentOutline, details: DocumentDetails): DocumentDetails {
  if (error !== undefined) return details;
  return { ...details, completed_at: details.updated_at + 60, indexing_latency: 60 };
}

/** The sum of a field over rows; what is no number counts as 0. */
export function sumOf(rows: readonly { readonly [field: string]: unknown }[], field: string): number {
  return rows.reduce((sum, row) => {
    const value = row[field];
    return typeof value === "number" ? sum + value : sum;
  }, 0);
}

/** The document that chunks are built for. `createdAt` in Unix seconds. */
interface ChunkSource {
  readonly documentId: string;
  readonly outline: DocumentOutline;
  readonly countsTokens: boolean;
  readonly createdAt: number;
  readonly random: Random;
}

/** Builds the chunk with this number (from 1) and its child chunks; chunks are built in order, for the sake of the random. */
function buildChunk(source: ChunkSource, number: number): StoredChunk {
  const { outline } = source;
  const turns = outline.languages ?? languages;
  const language = turns[(number - 1) % turns.length] ?? english;
  const id = stableId(`${source.documentId}/${number}`);
  const childCount = outline.childCount?.(number) ?? 0;
  const parts = partsOf(source, number, language, childCount);
  const children = parts
    .slice(0, childCount)
    .map((content, index) => childRow(id, index + 1, content, { time: timeOf(source, number), language }));
  const content = paragraph(language, parts);
  const plain = chunkRow(source, { id, number, content, children: outline.embedsChildren ? children : [], language });
  const row = (outline.peculiarities ?? []).reduce((chunk, peculiarity) => peculiarity(chunk, number), plain);
  return { row, children };
}

function partsOf(
  { outline, random }: ChunkSource,
  number: number,
  language: Language,
  least: number,
): readonly string[] {
  const text = outline.texts?.[number - 1];
  if (text !== undefined) return [text];
  if (outline.form === "qa_model") return [question(random, language)];
  return sentences(random, language, outline.topic, Math.max(least, wholeFrom(random, 2, 6)));
}

interface ChunkText {
  readonly id: string;
  readonly number: number;
  readonly content: string;
  readonly children: readonly ChildChunk[];
  readonly language: Language;
}

function chunkRow(source: ChunkSource, { id, number, content, children, language }: ChunkText): Chunk {
  const { outline, random } = source;
  const time = timeOf(source, number);
  const length = characters(content);
  return {
    id,
    position: number,
    document_id: source.documentId,
    content,
    sign_content: content,
    answer: outline.form === "qa_model" ? paragraph(language, sentences(random, language, outline.topic, 3)) : "",
    word_count: length,
    tokens: source.countsTokens ? Math.ceil(length / 3) : 0,
    keywords: keywords(random, language, outline.topic),
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", content),
    hit_count: Math.max(0, wholeFrom(random, -20, 20)),
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    status: "completed",
    created_by: accounts.author,
    created_at: time,
    updated_at: time,
    updated_by: null,
    indexing_at: time + 1,
    completed_at: time + 2,
    error: null,
    stopped_at: null,
    child_chunks: children,
    attachments: [],
    summary: null,
  };
}

/** People make child chunks in English, so that a reader can judge what a re-index takes. */
function childRow(
  segmentId: string,
  position: number,
  content: string,
  { time, language }: { readonly time: number; readonly language: Language },
): ChildChunk {
  return {
    id: stableId(`${segmentId}/${position}`),
    segment_id: segmentId,
    content,
    position,
    word_count: characters(content),
    type: language === english && position % 7 === 3 ? "customized" : "automatic",
    created_at: time,
    updated_at: time,
  };
}

/** Fractions have six digits, as a database keeps them. */
function timeOf({ outline, createdAt }: ChunkSource, number: number): number {
  const fraction = outline.fractionalTimes ? ((number * 7919) % 1_000_000) / 1_000_000 : 0;
  return createdAt + number + fraction;
}
