import { hash } from "node:crypto";

const bits = 128;

/** A digest of texts, the same in whatever order they come. */
export class SetDigest {
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
