import { invalidParam } from "../refusal.js";
import { jsonReply, type Route, routePath } from "../routes.js";
import type { Manner } from "../store/document-store.js";
import type { Begun } from "../store/held.js";

/** How long a re-index takes where nobody says so, and at the most, in seconds. */
const usual = 5;
const longest = 86_400;

const fewestCharacters = 20;

/**
 * `POST /demo/reindex/<document id>?seconds=5` has a document of the demo indexed anew. It is no part of the interface
 * that the service stands in for, and lies outside of its base URL. The answer is 202 with what was begun, as JSON; or the
 * batch alone, where plain text is asked for. `max_characters` cuts the source into chunks of that size.
 */
export function reindexRoute(store: { readonly reindex: (documentId: string, manner: Manner) => Begun }): Route {
  return {
    method: "POST",
    path: routePath("/demo/reindex/:document"),
    reply: ({ id, query, accept }) => {
      const manner = { seconds: secondsFrom(query), maxCharacters: charactersFrom(query) };
      const begun = store.reindex(id("document").toLowerCase(), manner);
      if (!accept?.startsWith("text/plain")) return jsonReply(202, begun);
      return { status: 202, type: "text/plain; charset=UTF-8", content: `${begun.batch}\n` };
    },
  };
}

function secondsFrom(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}

function charactersFrom(query: URLSearchParams): number | undefined {
  const text = query.get("max_characters");
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= fewestCharacters) return Number(text);
  throw invalidParam(`max_characters must be a whole number from ${fewestCharacters}.`);
}
