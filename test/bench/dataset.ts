/** A dataset of the benchmark, whose documents have the same number of chunks. */
export interface Dataset {
  readonly id: string;
  readonly documents: number;
  /** Chunks of each document. */
  readonly chunks: number;
  /** Whether every chunk has `childrenPerList` children in its child list. */
  readonly childLists: boolean;
  /** Whether chunks also embed these children, like in hierarchical documents. */
  readonly embedsChildren: boolean;
}

export const datasetId = "00000000-0000-4000-8000-da7a5e700000";

/** The number of children in every child list: an answer of 5 KB. */
export const childrenPerList = 10;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** The id of a document, from its number (from 0). floor.mjs must create the same ids. */
export const documentId = (document: number) => `${hex(document, 8)}-0000-4000-8000-d0c000000000`;

/** The id of a chunk, from the numbers of document and chunk (from 0). floor.mjs must create the same ids. */
export const chunkId = (document: number, chunk: number) => `${hex(document, 8)}-0000-4000-8000-${hex(chunk, 12)}`;

/** The id of a child chunk. All three numbers count from 0. */
export const childId = (document: number, chunk: number, child: number) =>
  `${hex(document, 8)}-c41d-4000-${hex(0x8000 + child, 4)}-${hex(chunk, 12)}`;

/** The numbers in an id of a document or chunk. */
export function numbersOf(id: string): { readonly document: number; readonly chunk: number } {
  return { document: Number.parseInt(id.slice(0, 8), 16), chunk: Number.parseInt(id.slice(24), 16) };
}
