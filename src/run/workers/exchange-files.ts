import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Exchange } from "../../exchange/exchange.js";
import { count, listOf, object, oneOf, pattern, text, valueIf } from "../../schema.js";
import { resultSchema } from "../documents/document-result.js";

/** The files that the coordinator of a run writes into the exchange before it hands anything out. */
export const planFile = "plan.json";
export const listFile = "list.json";

/** The content of `plan.json`: the run, and everything that a worker must agree with. */
export const planSchema = object({
  run_id: text,
  /** Begins the ids of its documents in the queue. It tells this run from one that began elsewhere in the same millisecond. */
  queue_id: text,
  /** The plan hash of the coordinator. */
  plan: text,
  version: text,
  /** The hash of the list of documents that the run was given; null where it asked the service. */
  list: v.nullable(text),
  /** The SHA-256 of `list.json`, which is written first. */
  list_sha256: text,
});

/** The SHA-256 of a list, as its plan has it. */
export function listHash(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

export type ExchangePlan = v.InferOutput<typeof planSchema>;

/** The plan of an exchange; undefined where the run is over, or this machine does not see its output. */
export async function readPlan(exchange: Pick<Exchange, "read">): Promise<ExchangePlan | undefined> {
  return valueIf(v.pipe(v.string(), v.parseJson(), planSchema), await exchange.read(planFile));
}

/** Requests that a worker sent since it told of them last. */
const requestsSchema = object({
  sent: count,
  answered: count,
  retried: count,
  throttled: count,
  bytes: count,
  retriedBy: v.record(v.string(), count),
});

export type RequestsTold = v.InferOutput<typeof requestsSchema>;

/** The result of a document that a worker read whole, as the exchange keeps it. */
export const handedSchema = object({
  worker: text,
  /** The attempt whose files these are. */
  token: pattern("a UUID", /^[0-9a-f-]{36}$/),
  result: resultSchema,
  files: listOf(object({ file: pattern("the name of a file", /^[\w.]+$/), bytes: count, sha256: text })),
  /** Pages and child lists that were read. */
  pages: count,
  requests: requestsSchema,
});

export type Handed = v.InferOutput<typeof handedSchema>;

/** An attempt that did not read its document whole. */
export const triedSchema = object({
  worker: text,
  status: oneOf("failed", "unstable"),
  error: text,
  requests: requestsSchema,
});

export type TriedReason = v.InferOutput<typeof triedSchema>;
