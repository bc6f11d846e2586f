import type { ListPage } from "../client/check-list.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";

/**
 * The pages of a list in order. Page 1 tells how many there are; the others are asked for ahead. Ends early at a page
 * that is empty although rows are missing: the proof says so. The given `first` page is not asked for again.
 */
export async function* readList(
  readPage: (page: number) => Promise<ListPage>,
  lookAhead: LookAhead,
  first?: ListPage,
): AsyncGenerator<ListPage> {
  const page1 = first ?? (await readPage(1));
  yield page1;
  for await (const page of mapAhead(remainingPages(page1), lookAhead, readPage)) {
    if (page.rows.length === 0) return;
    yield page;
  }
}

/**
 * The numbers of the pages behind page 1. `total` decides: `has_more` lies and `limit` only echoes what was asked, but
 * where rows are left, page 1 holds exactly as many as the service puts on a page. A service that ignores paging
 * gives all of them at once.
 */
export function* remainingPages(first: ListPage): Generator<number> {
  if (first.rows.length === 0) return;
  const pages = Math.ceil(first.total / first.rows.length);
  for (let page = 2; page <= pages; page++) yield page;
}
