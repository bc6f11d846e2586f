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

/** The original text of a document as the indexer cuts it: a chunk for each piece, without manual edits. A re-index makes its chunks from these. */
export type Source = readonly StoredChunk[];

/** A source of these texts, for a document. */
export function sourceFrom(texts: readonly ChunkText[], document: StoredDocument, dataset: Dataset): Source {
  const place = { id: "", position: 1, time: 0, by: document.row.created_by ?? null };
  return texts.map((text) => {
    const row = newChunk(document.row, text, isHighQuality(dataset), place);
    return { row, children: automaticChildren(row, document, dataset, { time: 0, round: 0 }) };
  });
}

/** The children that the service makes for a new parent: one for each sentence. Ids are always the same for the same parent and round. */
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

/** Whether the service makes children for the chunks of a document. */
export function makesChildren({ row }: StoredDocument, dataset: Dataset): boolean {
  return row.doc_form === "hierarchical_model" && isHighQuality(dataset);
}

/** The source, cut into pieces of another size. Questions and answers stay pairs. */
export function cutAgain(source: Source, most: number, document: StoredDocument, dataset: Dataset): Source {
  if (isQa(document.row)) return source;
  const pieces = cutText(source.map(({ row }) => row.content).join("\n\n"), most);
  return sourceFrom(
    pieces.map((content) => ({ content })),
    document,
    dataset,
  );
}

/** Cuts a text into pieces of at most so many characters (from 2): behind a sentence, else at white space, else anywhere. */
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
  return /[\ud800-\udbff]$/.test(head) ? head.length - 1 : head.length; // never through the middle of a character
}

/** The sentences of a text, each without the white space around it. */
export function sentencesIn(text: string): readonly string[] {
  const parts = text.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/**
 * The source of a document that already has manual edits, without them. The rows do not tell a chunk that a person added from one that was
 * edited: the later half of them counts as added, and has no source.
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

/** The row before its edit: a person added the last sentence, to the answer if there is one. */
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
