import type { Chunk, Dataset, Document, ListQuery, Slice, StatusQuery } from "./knowledge.js";

/** One page of rows. */
export function slice<Row>(rows: readonly Row[], { page, limit }: ListQuery): Slice<Row> {
  return { rows: rows.slice((page - 1) * limit, page * limit), total: rows.length };
}

/** Whether a chunk has the status and the keyword of a query. */
export function isAskedFor({ statuses, keyword }: StatusQuery): (chunk: Chunk) => boolean {
  const wanted = new Set(statuses);
  const part = keyword.toLowerCase();
  return ({ status, content }) =>
    (wanted.size === 0 || wanted.has(status)) && (part === "" || content.toLowerCase().includes(part));
}

/** The rows whose text has the keyword of a query, in any case. */
export function withKeyword<Row>(
  rows: readonly Row[],
  textOf: (row: Row) => string,
  { keyword }: ListQuery,
): readonly Row[] {
  const part = keyword.toLowerCase();
  return part === "" ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(part));
}

/** The text that datasets and documents are searched by. */
export function nameOf({ name }: Dataset | Document): string {
  return name;
}
