import {
  type ChildChunk,
  type Chunk,
  type ChunkText,
  characters,
  type Dataset,
  isHighQuality,
  isQa,
  newChild,
  newChunk,
  type StoredChunk,
  type StoredDocument,
  stableId,
} from "./rows.js";

/** The original text of a document, split into chunks without manual edits. A re-index creates chunks from it. */
export type Source = readonly StoredChunk[];

/** A document's source with these texts. */
export function sourceFrom(texts: readonly ChunkText[], document: StoredDocument, dataset: Dataset): Source {
  const place = { id: "", position: 1, time: 0, by: document.row.created_by ?? null };
  return texts.map((text) => {
    const row = newChunk(document.row, text, isHighQuality(dataset), place);
    return { row, children: automaticChildren(row, document, dataset, { time: 0, round: 0 }) };
  });
}

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

/** The source, split into pieces of another size. Questions stay with their answers. */
export function cutAgain(source: Source, most: number, document: StoredDocument, dataset: Dataset): Source {
  if (isQa(document.row)) return source;
  const pieces = cutText(source.map(({ row }) => row.content).join("\n\n"), most);
  return sourceFrom(
    pieces.map((content) => ({ content })),
    document,
    dataset,
  );
}

/** Splits a text into pieces of at most `most` characters (at least 2): after a sentence, otherwise at white space, otherwise anywhere. */
export function cutText(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const end = endOfPiece(rest.slice(0, most));
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}

function endOfPiece(head: string): number {
  const sentence = head.search(/[.!?。！？؟][^.!?。！？؟]*$/) + 1;
  if (sentence > 0) return sentence;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length; // never inside a surrogate pair
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
