import type { Listed } from "../client/check-list.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import { jsonText } from "../rows/exact-json.js";
import { rowFromRecord } from "../rows/row-from-record.js";
import { SetDigest } from "./set-digest.js";

/** A child chunk as the text of its row, so that two that are written alike are alike. */
export type ChildText = (child: Listed, chunkId: string) => string;

/** The texts of a document's children. A child that is nested too deeply to be written is unlike every other. */
export function childTextIn(
  { datasetId, documentId }: Pick<DocumentRef, "datasetId" | "documentId">,
  keepSignatures: boolean,
): ChildText {
  const options = { keepSignatures, drift: () => {} };
  return (child, chunkId) => {
    const known = { dataset_id: datasetId, document_id: documentId, segment_id: chunkId };
    try {
      return jsonText(rowFromRecord("child_chunks", child, known, options));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return `nested too deeply: ${child.id}`;
    }
  };
}

/**
 * A digest of the rows of one chunk's children, in whatever order they come: children with equal positions are listed in
 * another order at every read.
 */
export class ChildDigest {
  readonly #chunkId: string;
  readonly #textOf: ChildText;
  readonly #rows = new SetDigest();

  constructor(chunkId: string, textOf: ChildText) {
    this.#chunkId = chunkId;
    this.#textOf = textOf;
  }

  add(children: Iterable<Listed>): this {
    for (const child of children) this.#rows.add(this.#textOf(child, this.#chunkId));
    return this;
  }

  /** The digest of everything added so far; "" as long as there is nothing. */
  get value(): string {
    return this.#rows.value;
  }
}
