import type { Behaviour } from "./behaviour.js";
import type { Json, JsonObject } from "./json.js";
import { type Random, shuffled } from "./random.js";

/** The part of a list that a request wants. */
export interface Asked {
  readonly page: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: Row[];
  readonly total: number;
  /** The number of pages of the applied size. */
  readonly pages: number;
  readonly hasMore: boolean | undefined;
}

/** Parses page and limit (defaults 1 and 20); undefined if either is not a positive integer. */
export function askedOf(query: URLSearchParams): Asked | undefined {
  const numberOf = (name: string, fallback: number) => {
    const text = query.get(name);
    if (text === null) return fallback;
    return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  };
  const [page, limit] = [numberOf("page", 1), numberOf("limit", 20)];
  return page === undefined || limit === undefined ? undefined : { page, limit };
}

/** One page of at most `pageCap` rows. The offset is in pages of that size. */
export function pageOf<Row>(rows: readonly Row[], asked: Asked, behaviour: Behaviour): Page<Row> {
  const applied = Math.min(asked.limit, behaviour.pageCap ?? 100);
  const page = behaviour.paging === "same-page" ? 1 : asked.page;
  const some = rows.slice((page - 1) * applied, page * applied);
  const answers = {
    honest: page * applied < rows.length,
    "rows-equal-limit": some.length === asked.limit,
    "always-false": false,
    "always-true": true,
    absent: undefined,
  };
  const hasMore = answers[behaviour.hasMore ?? "honest"];
  return { rows: some, total: rows.length, pages: Math.ceil(rows.length / applied), hasMore };
}

/** The rows, with neighbours of equal position in random order. */
export function withShuffledTies<Row extends JsonObject>(rows: readonly Row[], random: Random): Row[] {
  const result: Row[] = [];
  for (let from = 0; from < rows.length; ) {
    const position = rows[from]?.position;
    let to = from + 1;
    while (to < rows.length && rows[to]?.position === position) to++;
    const ties = rows.slice(from, to);
    result.push(...(ties.length > 1 ? shuffled(random, ties) : ties));
    from = to;
  }
  return result;
}

/** Whether a record's content contains the keyword, ignoring case. The empty keyword matches every record. */
export function hasKeyword(record: JsonObject, keyword: string): boolean {
  if (keyword === "") return true;
  const content: Json | undefined = record.content;
  return typeof content === "string" && content.toLowerCase().includes(keyword.toLowerCase());
}
