import { hash } from "node:crypto";
import type { Listed } from "../client/check-answer.js";
import type { DocumentRef } from "../client/knowledge-api.js";
import { jsonText } from "../rows/exact-json.js";
import { rowFromRecord } from "../rows/row-from-record.js";

const bits = 128;

/** A digest of texts, the same in whatever order they come. */
class SetDigest {
  #sum = 0n;
  #size = 0;

  add(text: string): void {
    this.#sum = BigInt.asUintN(bits, this.#sum + BigInt(`0x${hash("sha256", text)}`));
    this.#size++;
  }

  /** Adds all texts of another digest. */
  merge(other: SetDigest): void {
    this.#sum = BigInt.asUintN(bits, this.#sum + other.#sum);
    this.#size += other.#size;
  }

  /** Texts that were added. */
  get size(): number {
    return this.#size;
  }

  equals(other: SetDigest): boolean {
    return this.#size === other.#size && this.#sum === other.#sum;
  }

  /** 32 hexadecimal digits, and "" as long as there are no texts. */
  get value(): string {
    return this.#size === 0 ? "" : this.#sum.toString(16).padStart(32, "0");
  }
}

/** The part of a row that is compared between two reads: signatures, hit counts and times change without a change of content. */
export interface Fingerprinted {
  readonly id: string;
  readonly content: unknown;
  readonly answer?: unknown;
}

/**
 * A digest of the ids and contents of a list, the same in whatever order the rows come: rows with equal positions are
 * listed in another order at every read by some services.
 */
export class ContentDigest {
  readonly #rows = new SetDigest();

  add({ id, content, answer }: Fingerprinted): void {
    this.#rows.add(JSON.stringify([id, content ?? null, answer ?? null]));
  }

  /** Adds a row by the JSON text of each part, as JSON.stringify writes it. */
  addJson(id: string, content: string, answer = "null"): void {
    this.#rows.add(`[${id},${content},${answer}]`);
  }

  /** Adds all rows of another digest. */
  merge(other: ContentDigest): void {
    this.#rows.merge(other.#rows);
  }

  get rows(): number {
    return this.#rows.size;
  }

  equals(other: ContentDigest): boolean {
    return this.#rows.equals(other.#rows);
  }
}

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
