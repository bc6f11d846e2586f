import { pageSize } from "../client/knowledge-api.js";

/** Learns how many rows a service puts on a page of one kind of list when asked for 100. */
export class PageSize {
  #cap: number | undefined;
  #whole = 0;
  #paged = true;

  /** Learns from page 1 of a list. */
  add(page: { readonly limit: number; readonly rows: number; readonly total: number }): void {
    if (page.rows > page.limit && page.rows === page.total) this.#paged = false;
    if (page.limit < pageSize && page.rows !== page.total) return;
    if (page.rows < page.total) this.#cap = Math.max(this.#cap ?? 0, page.rows);
    else this.#whole = Math.max(this.#whole, page.rows);
  }

  /** The most rows that a page was seen to hold while more were left; undefined where none was. */
  get cap(): number | undefined {
    return this.#cap;
  }

  /** False: everything comes on page 1, whatever is asked. */
  get isPaged(): boolean {
    return this.#paged;
  }

  /** Rows to a page, to count by: infinite where paging is ignored; what was asked where nothing else is known. */
  get rows(): number {
    if (!this.#paged) return Number.POSITIVE_INFINITY;
    return this.#cap ?? Math.max(pageSize, this.#whole);
  }

  /** Whether it is certain how many pages a list of so many rows has. */
  isCertainFor(rows: number): boolean {
    return !this.#paged || this.#cap !== undefined || rows <= Math.max(1, this.#whole);
  }
}
