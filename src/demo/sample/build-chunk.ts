import { hash } from "node:crypto";
import type { StoredChunk } from "../index-knowledge.js";
import type { ChildChunk, Chunk } from "../knowledge.js";
import type { DocumentOutline } from "./outline.js";
import { characters, keywords, paragraph, question, sentences } from "./prose/compose.js";
import { english } from "./prose/english.js";
import type { Language } from "./prose/language.js";
import { languages } from "./prose/languages.js";
import { type Random, wholeFrom } from "./random.js";
import { accounts, stableId } from "./stable-id.js";

/** The document that chunks are built for. `createdAt` in Unix seconds. */
export interface ChunkSource {
  readonly documentId: string;
  readonly outline: DocumentOutline;
  readonly countsTokens: boolean;
  readonly createdAt: number;
  readonly random: Random;
}

/** Builds the chunk with this number (from 1) and its child chunks; chunks are built in order, for the sake of the random. */
export function buildChunk(source: ChunkSource, number: number): StoredChunk {
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
