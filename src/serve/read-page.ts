import type { Listed, ListQuery, Slice, StatusQuery } from "../demo/knowledge.js";
import type { Kind } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import { matchingRows, recordsAt, recordsOfRows } from "./dump-rows.js";
import type { FilterCache } from "./filter-cache.js";
import type { RowFile } from "./row-file.js";
import type { RowRange } from "./row-index.js";

/** A list that stands in a file: what kind its rows are, and which they are. */
export interface StoredList extends RowRange {
  readonly file: RowFile;
  readonly kind: Kind;
}

/** One page of a stored list. Without a filter, only its rows are read; with one, the whole list, once. */
export async function readPage(list: StoredList, query: StatusQuery, filters: FilterCache): Promise<Slice<Listed>> {
  const { file, kind, first, end } = list;
  const start = (query.page - 1) * query.limit;
  const matches = isAskedFor(query);
  if (!matches) {
    const from = first + Math.min(start, end - first);
    const rows = await recordsAt(file, kind, { first: from, end: Math.min(from + query.limit, end) });
    return { rows, total: end - first };
  }
  const name = JSON.stringify([kind, first, end, [...query.statuses].sort(), query.keyword.toLowerCase()]);
  const found = await filters.get(name, () => matchingRows(file, { first, end }, matches));
  return { rows: await recordsOfRows(file, kind, found.slice(start, start + query.limit)), total: found.length };
}

/** One page of a list in memory, whose filter looks at the name. */
export function pageOf<Row>(
  rows: readonly Row[],
  { page, limit, keyword }: ListQuery,
  nameOf: (row: Row) => unknown,
): Slice<Row> {
  const found = keyword === "" ? rows : rows.filter((row) => hasKeyword(nameOf(row), keyword));
  return { rows: found.slice((page - 1) * limit, page * limit), total: found.length };
}

/** Undefined when every row is asked for. */
function isAskedFor({ statuses, keyword }: StatusQuery): ((row: Row) => boolean) | undefined {
  if (statuses.length === 0 && keyword === "") return undefined;
  const wanted = new Set<unknown>(statuses);
  return ({ status, content }) =>
    (wanted.size === 0 || wanted.has(status)) && (keyword === "" || hasKeyword(content, keyword));
}

function hasKeyword(text: unknown, keyword: string): boolean {
  return typeof text === "string" && text.toLowerCase().includes(keyword.toLowerCase());
}
