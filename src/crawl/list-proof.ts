import type { Listed } from "../client/check-list.js";
import { IdSet } from "./id-set.js";
import type { TellProblem } from "./problems.js";
import type { PageRead } from "./read-list.js";

/** Facts about a list that are known before its first page comes. */
export interface KnownList {
  readonly ids?: IdSet | undefined;
  readonly total?: number | undefined;
  readonly unreadable?: number | undefined;
}

/**
 * The proof that a list was read whole: `total` the same on every page, no id twice, as many ids as `total`, together with the
 * rows that the service could not render. It takes the pages in order and makes no requests.
 */
export class ListProof {
  readonly #ids: IdSet;
  readonly #name: string;
  readonly #problem: TellProblem;
  #unreadable: number;
  #total: number | undefined;
  #pagesInVain = 0;

  /**
   * `problem` is told of what is wrong; it may throw, or go on to have what there is. `known` is what an earlier process read
   * of the list, to whose ids the proof adds, or what an earlier sweep says of its size.
   */
  constructor(name: string, problem: TellProblem, known: KnownList = {}) {
    this.#name = name;
    this.#problem = problem;
    this.#ids = known.ids ?? new IdSet();
    this.#total = known.total;
    this.#unreadable = known.unreadable ?? 0;
  }

  /** In the order of the service, each once. */
  get ids(): Pick<IdSet, "size" | "at"> {
    return this.#ids;
  }

  /** Whether as many ids have come as the service counts. */
  get isWhole(): boolean {
    return this.#ids.size + this.#unreadable === this.#total;
  }

  /** Rows that the service could not render. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Whether three pages in a row brought nothing new: a service that repeats itself comes to no end, whatever it counts. */
  get isStuck(): boolean {
    return this.#pagesInVain >= 3;
  }

  /** Takes the next page and gives the rows of it that no earlier page had. */
  add(page: PageRead): readonly Listed[] {
    if (this.#total !== undefined && page.total !== this.#total) {
      const kind = page.total > this.#total ? "grew" : "moved";
      this.#problem(`total of ${this.#name} went from ${this.#total} to ${page.total} between two pages`, kind);
    }
    this.#total = page.total;
    for (const text of page.unreadable ?? []) this.#problem(text, "unreadable");
    this.#unreadable += page.unreadable?.length ?? 0;
    const before = this.#ids.size;
    const rows = page.rows.filter(({ id }) => this.#ids.add(id));
    const repeated = page.rows.length - (this.#ids.size - before);
    if (repeated > 0) this.#problem(`${repeated} of ${page.rows.length} ids on a page of ${this.#name} came before`);
    this.#pagesInVain = rows.length > 0 || page.unreadable?.length ? 0 : this.#pagesInVain + 1;
    return rows;
  }

  /** To be called after the last page. */
  finish(): void {
    if (!this.isWhole) {
      const listed = this.#ids.size + this.#unreadable;
      this.#problem(`${this.#name}: the service counts ${this.#total ?? "no"} and lists ${listed}`);
    }
  }
}
