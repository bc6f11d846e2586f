import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { Chunk } from "../knowledge.js";
import { characters } from "../sample/prose/compose.js";

/**
 * The source of a document, as the indexer cuts it: a chunk for each piece, as if nobody had touched any. Only what a re-index keeps
 * of these rows counts.
 */
export type Source = readonly StoredChunk[];

/**
 * The source of a document that holds people's work already: without their chunks, their edits, and the child chunks that they made.
 * The rows do not tell a chunk that was made by hand from one that was edited: the later half are taken as made.
 */
export function sourceOf({ chunks }: StoredDocument): Source {
  const edited = chunks.filter(isEdited);
  const handMade = new Set(edited.slice(Math.floor(edited.length / 2)));
  return chunks.filter((chunk) => !handMade.has(chunk) && chunk.row.status !== "re_segment").map(pieceOf);
}

function pieceOf(chunk: StoredChunk): StoredChunk {
  const row = isEdited(chunk) ? withoutEdit(chunk.row) : chunk.row;
  const children = chunk.children.filter(({ type, content }) => type !== "customized" && row.content.includes(content));
  return { row, children };
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
