import type { ListQuery, StatusQuery } from "./knowledge.js";
import { invalidParam, Refusal } from "./refusal.js";

const largestLimit = 100;
const defaultLimit = 20;

/** The page, limit and keyword of a request. Throws a 400 for a page or limit that is no whole number from 1; a limit above 100 is 100. */
export function listQueryFrom(query: URLSearchParams): ListQuery {
  return {
    page: wholeNumber("page", query.get("page"), 1),
    limit: Math.min(wholeNumber("limit", query.get("limit"), defaultLimit), largestLimit),
    keyword: query.get("keyword") ?? "",
  };
}

/** The same for chunks and documents, with every `status` of the query: `status=completed&status=error`. */
export function statusQueryFrom(query: URLSearchParams): StatusQuery {
  return { ...listQueryFrom(query), statuses: query.getAll("status") };
}

/** Which part of a document is asked for: `metadata=without`, `only` or `all`, which is the default. */
export function metadataPartFrom(query: URLSearchParams): "all" | "only" | "without" {
  const part = query.get("metadata") ?? "all";
  if (part === "all" || part === "only" || part === "without") return part;
  throw new Refusal(400, "invalid_metadata", `Invalid metadata value: ${part}`);
}

function wholeNumber(name: string, text: string | null, otherwise: number): number {
  if (text === null) return otherwise;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number)) {
    throw invalidParam(`${name} must be a whole number from 1.`);
  }
  return number;
}
