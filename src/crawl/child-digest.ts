import type { Listed } from "../client/check-list.js";
import type { ChildText } from "./embedded-children.js";
import { SetDigest } from "./set-digest.js";

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
