import { hash } from "node:crypto";
import type { ChildChunk, Chunk, Document } from "../knowledge.js";
import { characters } from "../sample/prose/compose.js";
import { stableId } from "../sample/stable-id.js";

/** The texts of a chunk. The answer counts in documents of questions and answers alone. */
export interface ChunkText {
  readonly content: string;
  readonly answer?: string | null;
  readonly keywords?: readonly string[] | null;
}

/** A place in a document for a row that is new. `time` in Unix seconds; `by` is an account. */
export interface NewPlace {
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
export function newChunk(document: Document, text: ChunkText, countsTokens: boolean, place: NewPlace): Chunk {
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

/** A child chunk that nobody has changed yet. */
export function newChild(
  segmentId: string,
  content: string,
  type: "automatic" | "customized",
  { id, position, time }: Omit<NewPlace, "by">,
): ChildChunk {
  const word_count = characters(content);
  return { id, segment_id: segmentId, content, position, word_count, type, created_at: time, updated_at: time };
}
