import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { ChildChunk, Dataset } from "../knowledge.js";
import { cutText, sentencesIn } from "../reindex/cut-text.js";
import type { Source } from "../reindex/source.js";
import { stableId } from "../sample/stable-id.js";
import { type ChunkText, isQa, newChild, newChunk } from "./new-chunk.js";

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
