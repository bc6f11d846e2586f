import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { RequestCounts } from "../client/request-counts.js";
import type { DocumentToRead } from "../crawl/discovery.js";
import { count, listOf, object, oneOf, pattern, text, valueIf } from "../schema.js";
import { resultSchema } from "../segments/document-result.js";
import { writeResult } from "../segments/document-store.js";
import { segmentPath } from "../segments/segment.js";
import { DamagedFileError, type Exchange, type OwnExchange } from "./exchange/exchange.js";

interface AcceptOptions {
  readonly exchange: OwnExchange;
  /** The folder of the parts of this run. */
  readonly segments: string;
  /** The text formats of this run. */
  readonly formats: readonly string[];
}

/**
 * Takes over the result of a worker: puts its files beside the other parts of the run, as if this process had read them and had been
 * killed. Gives the result; undefined where there is none yet; `damaged`, and nothing is taken over, where it is not that of the document
 * or its files have other bytes.
 */
export async function acceptDocument(
  { ref, name }: DocumentToRead,
  { exchange, segments, formats }: AcceptOptions,
): Promise<SubmittedResult | "damaged" | undefined> {
  const text = await exchange.result(name);
  if (text === undefined) return undefined;
  const submitted = valueIf(v.pipe(v.string(), v.parseJson(), submittedSchema), text);
  if (!submitted || !isOf(submitted, { ref, name }, formats)) return "damaged";
  const { token, files, result } = submitted;
  const paths = files.map(({ file }) => join(segments, file));
  try {
    for (const path of paths) await rm(path, { force: true }); // an earlier process may have been killed right here
    for (const [index, file] of files.entries()) await exchange.take(name, token, file, paths[index] ?? "");
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    for (const path of paths) await rm(path, { force: true });
    return "damaged";
  }
  await writeResult(segments, name, { state: result, segments: files });
  return submitted;
}

/** Whether a result is that of a document read whole, with a file for its rows in every format. */
function isOf({ result, files }: SubmittedResult, { ref, name }: DocumentToRead, formats: readonly string[]): boolean {
  const { row, proof } = result;
  const isIts = row.dataset_id === ref.datasetId && row.document_id === ref.documentId;
  const isWhole = row.status === "complete" && proof !== "none";
  const rows = { chunks: row.chunk_count, child_chunks: row.child_chunk_count };
  const expected = (["chunks", "child_chunks"] as const).flatMap((kind) =>
    rows[kind] > 0 ? formats.map((format) => segmentPath("", name, kind, format)) : [],
  );
  const found = files.map(({ file }) => file);
  return isIts && isWhole && expected.length === found.length && expected.every((file) => found.includes(file));
}

/** Counts the requests of a worker among those of the run. */
export function addRequests(reported: WorkerRequests, progress: RequestCounts): void {
  progress.sent += reported.sent;
  progress.answered += reported.answered;
  progress.retried += reported.retried;
  progress.throttled += reported.throttled;
  progress.bytes += reported.bytes;
  for (const [reason, times] of Object.entries(reported.retriedBy))
    progress.retriedBy[reason] = (progress.retriedBy[reason] ?? 0) + times;
}

/** The files that the coordinator of a run writes into the exchange before it distributes anything. */
export const planFile = "plan.json";
export const listFile = "list.json";

/** The content of `plan.json`: the run, and everything that a worker must agree with. */
const planSchema = object({
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

/** Requests that a worker sent since its last report. */
const requestsSchema = object({
  sent: count,
  answered: count,
  retried: count,
  throttled: count,
  bytes: count,
  retriedBy: v.record(v.string(), count),
});

export type WorkerRequests = v.InferOutput<typeof requestsSchema>;

/** The result of a document that a worker read whole, as the exchange keeps it. */
const submittedSchema = object({
  worker: text,
  /** The attempt whose files these are. */
  token: pattern("a UUID", /^[0-9a-f-]{36}$/),
  result: resultSchema,
  files: listOf(object({ file: pattern("the name of a file", /^[\w.]+$/), bytes: count, sha256: text })),
  /** Pages and child lists that were read. */
  pages: count,
  requests: requestsSchema,
});

export type SubmittedResult = v.InferOutput<typeof submittedSchema>;

/** An attempt that did not read its document whole. */
export const triedSchema = object({
  worker: text,
  status: oneOf("failed", "unstable"),
  error: text,
  requests: requestsSchema,
});

export type TriedReason = v.InferOutput<typeof triedSchema>;
