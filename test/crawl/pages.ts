import type { Listed, ListPage } from "../../src/client/check-answer.js";

/** Rows with these ids. */
export function rowsOf(ids: Iterable<string | number>): Listed[] {
  return Array.from(ids, (id) => ({ id: String(id) }));
}

/** A page that holds these ids; `total` is as many, unless it is said. */
export function pageOf(ids: Iterable<string | number>, total?: number): ListPage {
  const rows = rowsOf(ids);
  return { rows, total: total ?? rows.length, docForm: null };
}

/** The ids from `from` on, `count` of them, as numbers that sort. */
export function idsFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}
