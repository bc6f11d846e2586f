import type { HonoRequest } from "hono";
import type { ListQuery, StatusQuery } from "./knowledge.js";
import { invalidParam, Refusal } from "./refusal.js";

const largestLimit = 100;
const defaultLimit = 20;

/** What a list was asked for. Throws a 400 for a page or limit that is no whole number from 1; a limit above 100 is 100. */
export function listQueryFrom(request: HonoRequest): ListQuery {
  return {
    page: wholeNumber("page", request.query("page"), 1),
    limit: Math.min(wholeNumber("limit", request.query("limit"), defaultLimit), largestLimit),
    keyword: request.query("keyword") ?? "",
  };
}

/** The same for chunks and documents, with every `status` of the query: `status=completed&status=error`. */
export function statusQueryFrom(request: HonoRequest): StatusQuery {
  return { ...listQueryFrom(request), statuses: request.queries("status") ?? [] };
}

/** Which part of a document is asked for: `metadata=without`, `only` or `all`, which is the default. */
export function metadataPartFrom(request: HonoRequest): "all" | "only" | "without" {
  const part = request.query("metadata") ?? "all";
  if (part === "all" || part === "only" || part === "without") return part;
  throw new Refusal(400, "invalid_metadata", `Invalid metadata value: ${part}`);
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number)) {
    throw invalidParam(`${name} must be a whole number from 1.`);
  }
  return number;
}
