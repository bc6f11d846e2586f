import { createHash } from "node:crypto";
import type { Listed } from "../client/check-list.js";
import type { ChildText } from "./embedded-children.js";

/** A digest of the rows of one chunk's children, in their order; 32 hexadecimal digits, and "" as long as there are none. */
export class ChildDigest {
  readonly #chunkId: string;
  readonly #textOf: ChildText;
  readonly #hash = createHash("sha256");
  #rows = 0;

  constructor(chunkId: string, textOf: ChildText) {
    this.#chunkId = chunkId;
    this.#textOf = textOf;
  }

  add(children: readonly Listed[]): this {
    for (const child of children) this.#hash.update(`${this.#textOf(child, this.#chunkId)}\n`);
    this.#rows += children.length;
    return this;
  }

  /** Of what was added so far. */
  get value(): string {
    return this.#rows === 0 ? "" : this.#hash.copy().digest("hex").slice(0, 32);
  }
}
