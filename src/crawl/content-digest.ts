import { createHash } from "node:crypto";

/** What of a row is compared between two reads: signatures, hit counts and times move without a change of content. */
export interface Fingerprinted {
  readonly id: string;
  readonly content: unknown;
  readonly answer?: unknown;
}

const mask = (1n << 128n) - 1n;

/**
 * A digest of the ids and contents of a list, the same in whatever order the rows come: rows with equal positions are
 * listed in another order at every read by some services.
 */
export class ContentDigest {
  #sum = 0n;
  #rows = 0;

  add({ id, content, answer }: Fingerprinted): void {
    const text = JSON.stringify([id, content ?? null, answer ?? null]);
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) & mask;
    this.#rows++;
  }

  /** Adds all rows of another digest. */
  merge(other: ContentDigest): void {
    this.#sum = (this.#sum + other.#sum) & mask;
    this.#rows += other.#rows;
  }

  get rows(): number {
    return this.#rows;
  }

  equals(other: ContentDigest): boolean {
    return this.#rows === other.#rows && this.#sum === other.#sum;
  }
}
