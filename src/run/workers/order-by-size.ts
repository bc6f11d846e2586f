import type { Manifest } from "../../dump/manifest/manifest.js";
import { documentKey } from "../../rows/document-row.js";
import type { Discovery, PlacedDocument } from "../discover/discovery.js";

/** Characters of a chunk, about: they make sizes of two sources comparable. */
const charactersOfChunk = 500;

/**
 * The documents, largest first, so that no large one is left to the end: by the characters that the list of the service tells, or else by
 * the chunks of the run before. Those of unknown size come last, in their order.
 */
export function orderBySize(
  placed: readonly PlacedDocument[],
  { found }: Discovery,
  before: Pick<Manifest, "documents"> | undefined,
): readonly PlacedDocument[] {
  const sizes = new Map<string, number>();
  for (const row of before?.documents ?? []) sizes.set(documentKey(row), row.chunk_count * charactersOfChunk);
  for (const row of found?.rows ?? []) {
    const words = Number(row.word_count ?? Number.NaN);
    if (Number.isFinite(words)) sizes.set(documentKey(row), words);
  }
  const sizeOf = ({ ref: { datasetId, documentId } }: PlacedDocument) =>
    sizes.get(documentKey({ dataset_id: datasetId, document_id: documentId })) ?? -1;
  return [...placed].sort((one, other) => sizeOf(other) - sizeOf(one));
}
