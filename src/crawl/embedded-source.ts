import type { Listed } from "../client/check-list.js";

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
  #turn: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(kept: AsyncIterable<KeptChildren>) {
    this.#kept = kept[Symbol.asyncIterator]();
  }

  /** The children of the chunk at this place; undefined where it embedded none. Places are asked for in ascending order. */
  async take(index: number): Promise<readonly Listed[] | undefined> {
    if (this.#isOver) return undefined;
    const taken = this.#turn.then(() => this.#find(index));
    this.#turn = taken.catch(() => {});
    return taken;
  }

  async close(): Promise<void> {
    await this.#turn;
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
