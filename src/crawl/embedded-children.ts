import { isListed, type Listed } from "../client/check-answer.js";

const none: readonly Listed[] = [];

/**
 * The children embedded in a chunk, in the service's order; empty if the field is absent, null or empty. Undefined if the value is
 * not an array of objects with distinct ids.
 */
export function embeddedChildren({ child_chunks: value }: Listed): readonly Listed[] | undefined {
  if (value === undefined || value === null) return none;
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return none;
  if (!value.every(isListed)) return undefined;
  return new Set(value.map(({ id }) => id)).size === value.length ? value : undefined;
}

/** The embedded children of one chunk, kept when its page was read. */
export interface KeptChildren {
  /** Index of the chunk in the document, from 0. */
  readonly index: number;
  readonly children: readonly Listed[];
}

/** Returns kept children in the order of the chunks. Holds one chunk's children in memory at a time. */
export class EmbeddedSource {
  readonly #kept: AsyncIterator<KeptChildren>;
  #head: Promise<KeptChildren | undefined> | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(kept: AsyncIterable<KeptChildren>) {
    this.#kept = kept[Symbol.asyncIterator]();
  }

  /** The children of the chunk at this index; undefined if it embeds none. Call it with ascending indexes. */
  async take(index: number): Promise<readonly Listed[] | undefined> {
    if (this.#isOver) return undefined;
    const taken = this.#pending.then(() => this.#find(index));
    this.#pending = taken.catch(() => {});
    return taken;
  }

  async close(): Promise<void> {
    await this.#pending;
    await this.#kept.return?.();
  }

  async #find(index: number): Promise<readonly Listed[] | undefined> {
    for (;;) {
      this.#head ??= this.#next();
      const head = await this.#head;
      if (!head || head.index > index) return undefined;
      this.#head = undefined;
      if (head.index === index) return head.children;
    }
  }

  async #next(): Promise<KeptChildren | undefined> {
    const { done, value } = await this.#kept.next();
    this.#isOver = done === true;
    return done ? undefined : value;
  }
}
