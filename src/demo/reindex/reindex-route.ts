import type { Context, Env, Hono } from "hono";
import { invalidParam, methodNotAllowed } from "../refusal.js";
import type { DemoKnowledge } from "./demo-knowledge.js";

export interface ReindexRouteOptions {
  readonly knowledge: Pick<DemoKnowledge, "reindex">;
  /** Throws a 401 unless the header carries the key. */
  readonly checkKey: (authorization: string | undefined) => void;
}

/** How long a re-indexing takes where nobody says so, and at the most, in seconds. */
const usual = 5;
const longest = 86_400;

/**
 * `POST /demo/reindex/<document id>?seconds=5` has a document of the demo indexed anew. It is no part of the interface
 * that the service stands in for, and lies outside of its base URL. The answer is 202 with what was begun, as JSON; or the
 * batch alone, where plain text is asked for.
 */
export function addReindexRoute<E extends Env>(app: Hono<E>, { knowledge, checkKey }: ReindexRouteOptions): void {
  app.all("/demo/reindex/:document", (c) => {
    if (c.req.method !== "POST") throw methodNotAllowed("POST");
    checkKey(c.req.header("authorization"));
    const begun = knowledge.reindex(c.req.param("document").toLowerCase(), secondsFrom(c));
    if (c.req.header("accept")?.startsWith("text/plain")) return c.text(`${begun.batch}\n`, 202);
    return c.json(begun, 202);
  });
}

function secondsFrom(c: Context): number {
  const text = c.req.query("seconds") ?? String(usual);
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) <= longest) return Number(text);
  throw invalidParam(`seconds must be a number from 0 to ${longest}.`);
}
