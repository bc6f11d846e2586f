import { shownStatus } from "../display-status.js";
import type { StoredChunk, StoredDocument } from "../index-knowledge.js";
import type { ChildChunk, Dataset } from "../knowledge.js";
import { sumOf } from "../sample/build-document.js";

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
