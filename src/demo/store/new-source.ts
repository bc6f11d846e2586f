import { type StoredChunk, type StoredDocument, shownStatus } from "../index-knowledge.js";
import type { ChildChunk, Dataset } from "../knowledge.js";
import { cutText, type Source, sentencesIn } from "../reindex.js";
import { sumOf } from "../sample/build-document.js";
import { stableId } from "../sample/outline.js";
import { type ChunkText, isQa, newChild, newChunk } from "./new-rows.js";

/** Whether a dataset embeds its texts: only then are tokens counted. */
export function isHighQuality({ indexing_technique }: Dataset): boolean {
  return indexing_technique === "high_quality";
}

/** Whether the service makes children for the chunks of a document. */
export function makesChildren({ row }: StoredDocument, dataset: Dataset): boolean {
  return row.doc_form === "hierarchical_model" && isHighQuality(dataset);
}

/** The children that the service makes for a new parent: one for each sentence. Ids are always the same for the same parent and round. */
export function automaticChildren(
  { row }: StoredChunk,
  document: StoredDocument,
  dataset: Dataset,
  { time, round }: { readonly time: number; readonly round: number },
): readonly ChildChunk[] {
  if (!makesChildren(document, dataset)) return [];
  return sentencesIn(row.content).map((content, index) => {
    const place = { id: stableId(`${row.id}/${round}/${index + 1}`), position: index + 1, time };
    return newChild(row.id, content, "automatic", place);
  });
}

/** A source of these texts, for a document. */
export function sourceFrom(texts: readonly ChunkText[], document: StoredDocument, dataset: Dataset): Source {
  const place = { id: "", position: 1, time: 0, by: document.row.created_by ?? null };
  return texts.map((text) => {
    const piece = { row: newChunk(document.row, text, isHighQuality(dataset), place), children: [] };
    return { ...piece, children: automaticChildren(piece, document, dataset, { time: 0, round: 0 }) };
  });
}

/** The source of a document, cut into pieces of another size, from its first word to its last. Questions and answers stay pairs. */
export function cutAnew(source: Source, most: number, document: StoredDocument, dataset: Dataset): Source {
  if (isQa(document.row)) return source;
  const text = source.map(({ row }) => row.content).join("\n\n");
  return sourceFrom(
    cutText(text, most).map((content) => ({ content })),
    document,
    dataset,
  );
}

/** The document with other chunks, and counts that follow them. */
export function withChunks(document: StoredDocument, chunks: readonly StoredChunk[]): StoredDocument {
  const rows = chunks.map(({ row }) => row);
  const counts = { tokens: sumOf(rows, "tokens"), word_count: sumOf(rows, "word_count") };
  return { ...document, row: { ...document.row, ...known(counts, document.row) }, chunks };
}

/** The document with another version of one of its chunks. */
export function withChunk(document: StoredDocument, chunk: StoredChunk): StoredDocument {
  return withChunks(
    document,
    document.chunks.map((each) => (each.row.id === chunk.row.id ? chunk : each)),
  );
}

/** The chunk with other children, which it embeds where its document does so. */
export function withChildren(
  { row }: StoredChunk,
  children: readonly ChildChunk[],
  { embedsChildren = false }: StoredDocument,
): StoredChunk {
  return { row: embedsChildren ? { ...row, child_chunks: children } : row, children };
}

/** The row of a dataset, with counts that follow its documents. */
export function datasetWith(row: Dataset, documents: readonly StoredDocument[]): Dataset {
  const rows = documents.map((document) => document.row);
  const counts = {
    word_count: sumOf(rows, "word_count"),
    document_count: rows.length,
    total_documents: rows.length,
    total_available_documents: rows.filter((document) => shownStatus(document) === "available").length,
    doc_form: rows.at(-1)?.doc_form ?? null,
  };
  return { ...row, ...known(counts, row) };
}

/** The fields that a row has, too: older servers have fewer. */
function known(fields: Readonly<Record<string, unknown>>, row: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in row));
}
