import type { NumberList } from "./number-list.js";

/** Bytes that the numbers of matching rows may take, all filters together; the newest filter is always kept. */
const budget = 64_000_000;

/** The rows that match a filter, kept for the next page: a client that reads them all asks for the same filter again. */
export class FilterCache {
  readonly #found = new Map<string, Promise<NumberList>>();
  readonly #sizes = new Map<string, number>();

  /** The matching rows of a filter; calls `find` if they are not known, once however many callers wait. */
  get(name: string, find: () => Promise<NumberList>): Promise<NumberList> {
    const earlier = this.#found.get(name);
    this.#found.delete(name); // put behind the others: the first is dropped first
    const found = earlier ?? this.#keep(name, find());
    this.#found.set(name, found);
    return found;
  }

  async #keep(name: string, finding: Promise<NumberList>): Promise<NumberList> {
    try {
      const rows = await finding;
      this.#sizes.set(name, rows.bytes);
      this.#dropOldest(name);
      return rows;
    } catch (error) {
      this.#found.delete(name);
      throw error;
    }
  }

  #dropOldest(newest: string): void {
    let sum = 0;
    for (const size of this.#sizes.values()) sum += size;
    for (const [name] of this.#found) {
      if (sum <= budget) return;
      const size = this.#sizes.get(name);
      if (name === newest || size === undefined) continue;
      sum -= size;
      this.#sizes.delete(name);
      this.#found.delete(name);
    }
  }
}
