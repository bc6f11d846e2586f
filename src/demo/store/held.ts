import type { Batch, StoredChunk, StoredDataset, StoredDocument } from "../index-knowledge.js";
import type { Dataset } from "../knowledge.js";
import type { Course } from "../reindex/course.js";
import { type Source, sourceOf } from "../reindex/source.js";
import type { ChunkText } from "./new-chunk.js";

/** The answer to who has a document indexed: nothing else says which batch that is. */
export interface Begun {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly batch: string;
}

/** A dataset of the store. Its row is never changed, but replaced. */
export interface HeldDataset {
  row: Dataset;
  readonly documents: Map<string, HeldDocument>;
  /** The batches that it began with. */
  readonly batches: ReadonlyMap<string, Batch>;
}

/** A document of the store. Its versions are never changed, but replaced. */
export interface HeldDocument {
  readonly dataset: HeldDataset;
  version: StoredDocument;
  /** The texts that an indexing makes it from. No write changes them. */
  source: Source;
  /** Every indexing that began here, in order. */
  readonly courses: (Course & Begun)[];
}

/** A dataset as it is held, with its documents. */
export function heldDataset({ row, documents, batches }: StoredDataset): HeldDataset {
  const dataset: HeldDataset = { row, documents: new Map(), batches: new Map(batches.map((each) => [each.id, each])) };
  for (const document of documents) {
    const version = { ...document, embedsChildren: document.embedsChildren ?? embedsAny(document) };
    dataset.documents.set(document.row.id, { dataset, version, source: sourceOf(document), courses: [] });
  }
  return dataset;
}

/** The texts of a chunk. */
export function textsOf({ row: { content, answer, keywords } }: StoredChunk): ChunkText {
  return {
    content,
    answer: typeof answer === "string" ? answer : null,
    keywords: Array.isArray(keywords) ? keywords.map(String) : null,
  };
}

/** The order of a list of documents. */
export function newestFirst({ row: a }: StoredDocument, { row: b }: StoredDocument): number {
  return b.created_at - a.created_at || Number(b.position ?? 0) - Number(a.position ?? 0);
}

function embedsAny({ chunks }: StoredDocument): boolean {
  return chunks.some(({ row }) => Array.isArray(row.child_chunks) && row.child_chunks.length > 0);
}
