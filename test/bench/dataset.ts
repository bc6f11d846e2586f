/** A dataset of the benchmark: so many documents, all of so many chunks. */
export interface Dataset {
  readonly id: string;
  readonly documents: number;
  /** Chunks of each document. */
  readonly chunks: number;
  /** Whether every chunk has children, `childrenPerList` of them in its child list. */
  readonly childLists: boolean;
  /** Whether chunks embed these children, too, as those of hierarchical documents do. */
  readonly embedsChildren: boolean;
}

export const datasetId = "00000000-0000-4000-8000-da7a5e700000";

/** Rows of every child list: 5 KB. */
export const childrenPerList = 10;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** The id of a document, by its number from 0. floor.mjs makes the same. */
export const documentId = (document: number) => `${hex(document, 8)}-0000-4000-8000-d0c000000000`;

/** The id of a chunk, by the numbers of its document and of itself, from 0. floor.mjs makes the same. */
export const chunkId = (document: number, chunk: number) => `${hex(document, 8)}-0000-4000-8000-${hex(chunk, 12)}`;

/** The id of a child chunk; all three count from 0. */
export const childId = (document: number, chunk: number, child: number) =>
  `${hex(document, 8)}-c41d-4000-${hex(0x8000 + child, 4)}-${hex(chunk, 12)}`;

/** The numbers in an id of a document or chunk. */
export function numbersOf(id: string): { readonly document: number; readonly chunk: number } {
  return { document: Number.parseInt(id.slice(0, 8), 16), chunk: Number.parseInt(id.slice(24), 16) };
}
