import { invalidParam } from "../refusal.js";
import { jsonReply, type Route, routePath } from "../routes.js";
import type { DemoKnowledge } from "./demo-knowledge.js";

/** How long a re-indexing takes where nobody says so, and at the most, in seconds. */
const usual = 5;
const longest = 86_400;

/**
 * `POST /demo/reindex/<document id>?seconds=5` has a document of the demo indexed anew. It is no part of the interface
 * that the service stands in for, and lies outside of its base URL. The answer is 202 with what was begun, as JSON; or the
 * batch alone, where plain text is asked for.
 */
export function reindexRoute({ reindex }: Pick<DemoKnowledge, "reindex">): Route {
  return {
    method: "POST",
    path: routePath("/demo/reindex/:document"),
    reply: ({ id, query, accept }) => {
      const begun = reindex(id("document").toLowerCase(), secondsFrom(query));
      if (!accept?.startsWith("text/plain")) return jsonReply(202, begun);
      return { status: 202, type: "text/plain; charset=UTF-8", text: `${begun.batch}\n` };
    },
  };
}

function secondsFrom(query: URLSearchParams): number {
  const text = query.get("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}
