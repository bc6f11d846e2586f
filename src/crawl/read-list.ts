import type { ListPage } from "../client/check-list.js";
import { pageSize } from "../client/knowledge-api.js";
import { type LookAhead, mapAhead } from "./look-ahead.js";

/** A page as it was read: with one answer, unless it says otherwise. */
export interface PageRead extends ListPage {
  /** Rows of the smallest piece that was asked for, where the page could not be had whole. */
  readonly piece?: number | undefined;
  /** A sentence for each row of it that the service could not render, and that is not among `rows`. */
  readonly unreadable?: readonly string[] | undefined;
}

/** Rows that stand on a page, those that the service could not render included. */
export const rowsOn = ({ rows, unreadable = [] }: Pick<PageRead, "rows" | "unreadable">): number =>
  rows.length + unreadable.length;

/**
 * Answers that a page stands for, at the least. A full one does not show that the list ends with it: a service that counts the
 * rows after it has read them counts one too few if one is deleted in between, and hides the row behind the page.
 */
export const answersOf = ({ rows, piece }: Pick<PageRead, "rows" | "piece">): number =>
  piece === undefined && rows.length !== pageSize ? 1 : 2;

/** Reads the page of a list with this number, from 1. */
export type ReadPage = (page: number) => Promise<PageRead>;

/** The size of a list, as its first page tells it. */
export interface ListSize {
  /** Rows that the service counts. */
  readonly total: number;
  /** Rows on page 1: where rows are left, that is what the service puts on a page. */
  readonly pageSize: number;
}

/**
 * The pages of a list in order. Page 1 tells how many there are; the others are asked for ahead. The given `first` page is
 * not asked for again.
 */
export async function* readList(readPage: ReadPage, lookAhead: LookAhead, first?: PageRead): AsyncGenerator<PageRead> {
  const page = first ?? (await readPage(1));
  yield page;
  const size = { total: page.total, pageSize: rowsOn(page) };
  if (pagesOf(size) > 1) yield* readRest(readPage, lookAhead, size, 1);
}

/** The pages behind the first `read` ones. Ends early at one that is empty although rows are missing: the proof says so. */
export async function* readRest(
  readPage: ReadPage,
  lookAhead: LookAhead,
  size: ListSize,
  read: number,
): AsyncGenerator<PageRead> {
  for await (const page of mapAhead(pagesBehind(read, size), lookAhead, readPage)) {
    if (rowsOn(page) === 0) return;
    yield page;
  }
}

/** Pages of a list, as its first one tells. */
export function pagesOf({ total, pageSize }: ListSize): number {
  return pageSize > 0 ? Math.ceil(total / pageSize) : 1;
}

/**
 * The numbers of the pages behind the first `read` ones. `total` decides: `has_more` lies and `limit` only echoes what was
 * asked. A service that ignores paging gives all rows on page 1.
 */
export function* pagesBehind(read: number, size: ListSize): Generator<number> {
  const pages = pagesOf(size);
  for (let page = read + 1; page <= pages; page++) yield page;
}
