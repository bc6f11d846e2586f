import { isListed, type Listed } from "../client/check-answer.js";

const none: readonly Listed[] = [];

/**
 * The children that a chunk carries, in the order of the service: none where the field is absent, null or empty. Undefined
 * where they cannot be taken for child chunks: no array of objects with an id each, or an id twice.
 */
export function embeddedChildren({ child_chunks: value }: Listed): readonly Listed[] | undefined {
  if (value === undefined || value === null) return none;
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return none;
  if (!value.every(isListed)) return undefined;
  return new Set(value.map(({ id }) => id)).size === value.length ? value : undefined;
}

/** The children that one chunk embeds, as they were kept when its page came. */
export interface KeptChildren {
  /** Place of the chunk in the document, from 0. */
  readonly index: number;
  readonly children: readonly Listed[];
}

/** Gives kept children back, chunk by chunk, in the order of the chunks; one chunk's at a time is in memory. */
export class EmbeddedSource {
  readonly #kept: AsyncIterator<KeptChildren>;
  #head: Promise<KeptChildren | undefined> | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(kept: AsyncIterable<KeptChildren>) {
    this.#kept = kept[Symbol.asyncIterator]();
  }

  /** The children of the chunk at this place; undefined where it embedded none. Places are asked for in ascending order. */
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
