import type { Listed, ListPage } from "../client/check-list.js";
import { IdSet } from "./id-set.js";

/**
 * The proof that a list was read whole: `total` the same on every page, no id twice, as many ids as `total`. It takes
 * the pages in order and makes no requests.
 */
export class ListProof {
  readonly #ids: IdSet;
  readonly #name: string;
  readonly #problem: (text: string) => void;
  #total: number | undefined;
  #pagesInVain = 0;

  /**
   * `problem` is told of what is wrong; it may throw, or go on to have what there is. `read` is what an earlier process
   * read of the list; the proof adds to its ids.
   */
  constructor(name: string, problem: (text: string) => void, read?: { ids: IdSet; total: number }) {
    this.#name = name;
    this.#problem = problem;
    this.#ids = read?.ids ?? new IdSet();
    this.#total = read?.total;
  }

  /** In the order of the service, each once. */
  get ids(): Pick<IdSet, "size" | "at"> {
    return this.#ids;
  }

  /** Whether as many ids have come as the service counts. */
  get isWhole(): boolean {
    return this.#ids.size === this.#total;
  }

  /** Whether three pages in a row brought nothing new: a service that repeats itself comes to no end, whatever it counts. */
  get isStuck(): boolean {
    return this.#pagesInVain >= 3;
  }

  /** Takes the next page and gives the rows of it that no earlier page had. */
  add(page: ListPage): readonly Listed[] {
    if (this.#total !== undefined && page.total !== this.#total) {
      this.#problem(`total of ${this.#name} went from ${this.#total} to ${page.total} between two pages`);
    }
    this.#total = page.total;
    const before = this.#ids.size;
    const rows = page.rows.filter(({ id }) => this.#ids.add(id));
    const repeated = page.rows.length - (this.#ids.size - before);
    if (repeated > 0) this.#problem(`${repeated} of ${page.rows.length} ids on a page of ${this.#name} came before`);
    this.#pagesInVain = rows.length > 0 ? 0 : this.#pagesInVain + 1;
    return rows;
  }

  /** To be called after the last page. */
  finish(): void {
    if (!this.isWhole) {
      this.#problem(`${this.#name}: the service counts ${this.#total ?? "no"} and lists ${this.#ids.size}`);
    }
  }
}
