import { SetDigest } from "./set-digest.js";

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
