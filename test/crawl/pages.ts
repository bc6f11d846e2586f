import type { Listed, ListPage } from "../../src/client/check-answer.js";

/** Rows with these ids. */
export function rowsOf(ids: Iterable<string | number>): Listed[] {
  return Array.from(ids, (id) => ({ id: String(id) }));
}

/** A page with these ids; `total` is their number by default. */
export function pageOf(ids: Iterable<string | number>, total?: number): ListPage {
  const rows = rowsOf(ids);
  return { rows, total: total ?? rows.length, docForm: null };
}

/** `count` consecutive numbers starting with `from`, to use as ids. */
export function idsFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}
