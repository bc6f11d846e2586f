import { hash } from "node:crypto";
import type { Listed } from "../client/check-answer.js";
import type { Place } from "../client/knowledge-api.js";
import { jsonText } from "../rows/exact-json.js";
import { rowFromRecord } from "../rows/row-from-record.js";

const bits = 128;

/** A digest of a set of texts, independent of their order. */
class SetDigest {
  #sum = 0n;
  #size = 0;

  protected addText(text: string): void {
    this.#sum = BigInt.asUintN(bits, this.#sum + BigInt(`0x${hash("sha256", text)}`));
    this.#size++;
  }

  /** Adds all texts of another digest. */
  merge(other: SetDigest): void {
    this.#sum = BigInt.asUintN(bits, this.#sum + other.#sum);
    this.#size += other.#size;
  }

  get rows(): number {
    return this.#size;
  }

  equals(other: SetDigest): boolean {
    return this.#size === other.#size && this.#sum === other.#sum;
  }

  /** The digest as 32 hexadecimal digits; "" if nothing was added. */
  get value(): string {
    return this.#size === 0 ? "" : this.#sum.toString(16).padStart(32, "0");
  }
}

/**
 * The part of a row that is compared between two reads. Signatures, hit counts and times are left out: they change while the
 * content stays the same.
 */
export interface Fingerprinted {
  readonly id: string;
  readonly content: unknown;
  readonly answer?: unknown;
}

/**
 * A digest of the ids and contents of a list, independent of row order, because some services list rows with equal positions in a
 * different order on every read.
 */
export class ContentDigest extends SetDigest {
  add({ id, content, answer }: Fingerprinted): void {
    this.addText(JSON.stringify([id, content ?? null, answer ?? null]));
  }

  /** Adds a row from the JSON texts of its parts, as JSON.stringify writes them. */
  addJson(id: string, content: string, answer = "null"): void {
    this.addText(`[${id},${content},${answer}]`);
  }
}

/** Converts a child chunk to the text of its row. Equal rows give equal texts. */
export type ChildText = (child: Listed, chunkId: string) => string;

/**
 * Returns a function that converts the children of a document to the texts of their rows. A child that is nested too deeply to
 * serialize equals no other.
 */
export function childTextIn({ datasetId, documentId }: Place, keepSignatures: boolean): ChildText {
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
 * A digest of the rows of one chunk's children, independent of their order, because children with equal positions come in a
 * different order on every read.
 */
export class ChildDigest extends SetDigest {
  readonly #chunkId: string;
  readonly #textOf: ChildText;

  constructor(chunkId: string, textOf: ChildText) {
    super();
    this.#chunkId = chunkId;
    this.#textOf = textOf;
  }

  add(children: Iterable<Listed>): this {
    for (const child of children) this.addText(this.#textOf(child, this.#chunkId));
    return this;
  }
}
