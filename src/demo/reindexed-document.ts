import { hash } from "node:crypto";
import type { StoredChunk, StoredDocument } from "./index-knowledge.js";
import type { ChildChunk, Chunk } from "./knowledge.js";
import { sumOf } from "./sample/build-document.js";
import { characters } from "./sample/prose/compose.js";
import { stableId } from "./sample/stable-id.js";

/** Which re-index of a document this is, from 1, and when it began in Unix seconds. */
interface Generation {
  readonly generation: number;
  readonly startedAt: number;
}

/**
 * The document as it is made anew from its source: the same id, and every chunk another one with an id of its own, counted
 * from 1 and never hit. People's work is lost: their chunks, their edits, what they switched off, and the child chunks that
 * they made. Ids are always the same for the same generation.
 */
export function reindexedDocument(document: StoredDocument, { generation, startedAt }: Generation): StoredDocument {
  const edited = document.chunks.filter(isEdited);
  // The rows do not tell a chunk that was made by hand from one that was edited: the later half are taken as made.
  const handMade = new Set(edited.slice(Math.floor(edited.length / 2)));
  const chunks = document.chunks
    .filter((chunk) => !handMade.has(chunk) && chunk.row.status !== "re_segment")
    .map((chunk, index) => {
      const id = stableId(`${document.row.id}/reindexed ${generation}/${index + 1}`);
      return chunkAnew(chunk, { id, position: index + 1, startedAt });
    });
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count"), hit_count: 0 };
  const row = { ...document.row, ...counts, indexing_status: "completed", error: null, display_status: "available" };
  return { row, chunks };
}

interface Place {
  readonly id: string;
  readonly position: number;
  readonly startedAt: number;
}

function chunkAnew(chunk: StoredChunk, { id, position, startedAt }: Place): StoredChunk {
  const row = isEdited(chunk) ? withoutEdit(chunk.row) : chunk.row;
  const children = chunk.children
    .filter(({ type, content }) => type !== "customized" && row.content.includes(content))
    .map((child, index) =>
      childAnew(child, id, { id: stableId(`${id}/${index + 1}`), position: index + 1, startedAt }),
    );
  const embeds = Array.isArray(row.child_chunks) && row.child_chunks.length > 0;
  const fresh = {
    index_node_id: stableId(`${id}/node`),
    index_node_hash: hash("sha256", row.content),
    hit_count: 0,
    ...{ enabled: true, disabled_at: null, disabled_by: null },
    ...{ created_at: startedAt, updated_at: startedAt, updated_by: null },
    ...{ indexing_at: startedAt, completed_at: startedAt, error: null, stopped_at: null },
    child_chunks: embeds ? children : [],
  };
  const known = Object.entries(fresh).filter(([field]) => field in row); // older servers have fewer
  return { row: { ...row, ...Object.fromEntries(known), id, position, status: "completed" }, children };
}

function childAnew(child: ChildChunk, segmentId: string, { id, position, startedAt }: Place): ChildChunk {
  return { ...child, id, segment_id: segmentId, position, created_at: startedAt, updated_at: startedAt };
}

function isEdited({ row }: StoredChunk): boolean {
  return typeof row.updated_by === "string";
}

/** The row as its source has it: the last sentence, of the answer where there is one, was added by hand. */
function withoutEdit(row: Chunk): Chunk {
  if (typeof row.answer === "string" && row.answer !== "") return { ...row, answer: withoutLastSentence(row.answer) };
  const content = withoutLastSentence(row.content);
  const length = characters(content);
  const tokens = row.tokens === 0 ? 0 : Math.ceil(length / 3);
  const sign_content = row.sign_content === row.content ? content : row.sign_content;
  return { ...row, content, word_count: length, tokens, ...(sign_content !== undefined && { sign_content }) };
}

/** A text of one sentence loses its second half. */
function withoutLastSentence(text: string): string {
  const earlier = /^(.*[.!?。！？؟])\s*[^.!?。！？؟]+[.!?。！？؟]\s*$/su.exec(text)?.[1];
  return earlier ?? text.slice(0, Math.ceil(text.length / 2)).toWellFormed();
}
