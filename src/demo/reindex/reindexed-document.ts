import { hash } from "node:crypto";
import type { ChildChunk, Chunk } from "../knowledge.js";
import { sumOf } from "../sample/build-document.js";
import { characters } from "../sample/prose/compose.js";
import { stableId } from "../sample/stable-id.js";
import type { StoredChunk, StoredDocument } from "../stored-dataset.js";

/** Which re-indexing of a document this is, from 1, and when it began in Unix seconds. */
export interface Reindexing {
  readonly generation: number;
  readonly startedAt: number;
}

/**
 * The document as it is made anew from its source: the same id, and every chunk another one with an id of its own, counted
 * from 1 and never hit. What people did by hand is lost: their chunks, their edits, what they switched off, and the child
 * chunks that they made. Ids are always the same for the same generation.
 */
export function reindexedDocument(document: StoredDocument, reindexing: Reindexing): StoredDocument {
  const edited = document.chunks.filter(isEdited);
  // The rows do not tell a chunk that was made by hand from one that was edited; what is made is put behind the others.
  const handMade = new Set(edited.slice(Math.floor(edited.length / 2)));
  const kept = document.chunks.filter((chunk) => !handMade.has(chunk) && chunk.row.status !== "re_segment");
  const chunks = kept.map((chunk, index) =>
    chunkAnew(chunk, index + 1, { ...reindexing, documentId: document.row.id }),
  );
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const row = { ...document.row, ...counts, indexing_status: "completed", error: null, display_status: "available" };
  return { row, chunks };
}

interface ChunkPlace extends Reindexing {
  readonly documentId: string;
}

function chunkAnew(
  chunk: StoredChunk,
  position: number,
  { documentId, generation, startedAt }: ChunkPlace,
): StoredChunk {
  const id = stableId(`${documentId}/reindexed ${generation}/${position}`);
  const { row } = isEdited(chunk) ? { row: withoutEdit(chunk.row) } : chunk;
  const children = chunk.children
    .filter(({ type, content }) => type !== "customized" && row.content.includes(content))
    .map((child, index) => childAnew(child, { segmentId: id, position: index + 1, startedAt }));
  const embedded = Array.isArray(row.child_chunks) && row.child_chunks.length > 0 ? { child_chunks: children } : {};
  const own = { id, position, index_node_id: stableId(`${id}/node`), index_node_hash: hash("sha256", row.content) };
  const times = {
    created_at: startedAt,
    indexing_at: startedAt,
    completed_at: startedAt,
    ...ifThere(row, "updated_at", startedAt),
  };
  const untouched = { enabled: true, disabled_at: null, disabled_by: null, ...ifThere(row, "updated_by", null) };
  const state = { hit_count: 0, status: "completed", error: null, stopped_at: null };
  return { row: { ...row, ...own, ...times, ...untouched, ...state, ...embedded }, children };
}

interface ChildPlace {
  readonly segmentId: string;
  readonly position: number;
  readonly startedAt: number;
}

function childAnew(child: ChildChunk, { segmentId, position, startedAt }: ChildPlace): ChildChunk {
  const id = stableId(`${segmentId}/${position}`);
  return { ...child, id, segment_id: segmentId, position, created_at: startedAt, updated_at: startedAt };
}

function isEdited({ row }: StoredChunk): boolean {
  return typeof row.updated_by === "string";
}

/** What the source says: the last sentence, of the answer where there is one, was added by hand. */
function withoutEdit(row: Chunk): Chunk {
  if (typeof row.answer === "string" && row.answer !== "") return { ...row, answer: withoutLastSentence(row.answer) };
  const content = withoutLastSentence(row.content);
  const copies = row.sign_content === row.content ? { sign_content: content } : {};
  return { ...row, ...copies, content, word_count: characters(content), ...tokensOf(row, content) };
}

function tokensOf({ tokens }: Chunk, content: string): { readonly tokens?: number } {
  return typeof tokens === "number" && tokens > 0 ? { tokens: Math.ceil(characters(content) / 3) } : {};
}

/** A text of one sentence loses its second half. */
function withoutLastSentence(text: string): string {
  const earlier = /^(.*[.!?。！？؟])\s*[^.!?。！？؟]+[.!?。！？؟]\s*$/su.exec(text)?.[1];
  return earlier ?? text.slice(0, Math.ceil(text.length / 2)).toWellFormed();
}

/** Servers of older versions have fewer fields, and a re-index adds none. */
function ifThere(row: Chunk, field: string, value: unknown): Readonly<Record<string, unknown>> {
  return field in row ? { [field]: value } : {};
}
