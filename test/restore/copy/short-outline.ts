import type { DatasetOutline } from "../../../src/demo/sample/build-document.js";

/** A dataset of the sample data with so many chunks of each document, and of each chunk child chunks, at the most. */
export function shortOutline(outline: DatasetOutline, most: number): DatasetOutline {
  const documents = outline.documents.map(({ chunkCount, childCount = () => 0, ...document }) => ({
    ...{ ...document, chunkCount: Math.min(most, chunkCount) },
    childCount: (number: number) => Math.min(most, childCount(number)),
  }));
  return { ...outline, documents };
}
