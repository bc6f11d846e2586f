import type { DatasetOutline } from "../../../src/demo/sample/outlines.js";

/** Limits a sample dataset to `most` chunks per document and `most` child chunks per chunk. */
export function shortOutline(outline: DatasetOutline, most: number): DatasetOutline {
  const documents = outline.documents.map(({ chunkCount, childCount = () => 0, ...document }) => ({
    ...{ ...document, chunkCount: Math.min(most, chunkCount) },
    childCount: (number: number) => Math.min(most, childCount(number)),
  }));
  return { ...outline, documents };
}
