import {
  type ChildChunk,
  type Chunk,
  characters,
  type Dataset,
  isHighQuality,
  newChild,
  type StoredChunk,
  type StoredDocument,
  stableId,
} from "./rows.js";

/** The original text of a document, split into chunks without manual edits. A re-index creates chunks from it. */
export type Source = readonly StoredChunk[];

/** The children that the service creates for a new parent: one per sentence. Ids are always the same for the same parent and round. */
export function automaticChildren(
  { id: parentId, content }: Chunk,
  document: StoredDocument,
  dataset: Dataset,
  { time, round }: { readonly time: number; readonly round: number },
): readonly ChildChunk[] {
  if (!makesChildren(document, dataset)) return [];
  return sentencesIn(content).map((sentence, index) => {
    const place = { id: stableId(`${parentId}/${round}/${index + 1}`), position: index + 1, time };
    return newChild(parentId, sentence, "automatic", place);
  });
}

/** Whether the service creates children for the chunks of a document. */
export function makesChildren({ row }: StoredDocument, dataset: Dataset): boolean {
  return row.doc_form === "hierarchical_model" && isHighQuality(dataset);
}

/** The sentences of a text, trimmed. */
export function sentencesIn(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * The source of a document that already has manual edits, without them. The rows do not show whether a chunk was added or edited,
 * so the later half of such chunks counts as added and has no source.
 */
export function sourceOf({ chunks }: StoredDocument): Source {
  const edited = chunks.filter(isEdited);
  const dropped = new Set(edited.slice(Math.floor(edited.length / 2)));
  return chunks.filter((chunk) => !dropped.has(chunk) && chunk.row.status !== "re_segment").map(pieceOf);
}

function pieceOf(chunk: StoredChunk): StoredChunk {
  const row = isEdited(chunk) ? withoutEdit(chunk.row) : chunk.row;
  const children = chunk.children.filter(({ type, content }) => type !== "customized" && row.content.includes(content));
  return { row, children };
}

function isEdited({ row }: StoredChunk): boolean {
  return typeof row.updated_by === "string";
}

/** Undoes the edit of a row: the edit added the last sentence, to the answer if there is one. */
function withoutEdit(row: Chunk): Chunk {
  if (typeof row.answer === "string" && row.answer !== "") return { ...row, answer: withoutLastSentence(row.answer) };
  const content = withoutLastSentence(row.content);
  const length = characters(content);
  const tokens = row.tokens === 0 ? 0 : Math.ceil(length / 3);
  const sign_content = row.sign_content === row.content ? content : row.sign_content;
  return { ...row, content, word_count: length, tokens, ...(sign_content !== undefined && { sign_content }) };
}

/** Removes the last sentence; if there is only one, its second half. */
function withoutLastSentence(text: string): string {
  const earlier = /^(.*[.!?。！？؟])\s*[^.!?。！？؟]+[.!?。！？؟]\s*$/su.exec(text)?.[1];
  return earlier ?? text.slice(0, Math.ceil(text.length / 2)).toWellFormed();
}
