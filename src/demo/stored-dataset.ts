/** The plain tree that a knowledge in memory is made from: datasets, their documents and batches, chunks, child chunks. */

import type { ChildChunk, Chunk, Dataset, Document, StatusEntry } from "./knowledge.js";

export interface StoredDataset {
  readonly row: Dataset;
  readonly documents: readonly StoredDocument[];
  readonly batches: readonly Batch[];
}

export interface StoredDocument {
  readonly row: Document;
  readonly chunks: readonly StoredChunk[];
}

/** `children` is what the child list answers; what the chunk embeds is `row.child_chunks`, and the two may differ. */
export interface StoredChunk {
  readonly row: Chunk;
  readonly children: readonly ChildChunk[];
}

/** The documents that were created in one go. `entries` is called at every read, so that a batch can move. */
export interface Batch {
  readonly id: string;
  entries(): readonly StatusEntry[];
}
