import { createHash } from "node:crypto";

const mask = (1n << 128n) - 1n;

/** A digest of texts, the same in whatever order they come. */
export class SetDigest {
  #sum = 0n;
  #size = 0;

  add(text: string): void {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) & mask;
    this.#size++;
  }

  /** Adds all texts of another digest. */
  merge(other: SetDigest): void {
    this.#sum = (this.#sum + other.#sum) & mask;
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
