import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { DocumentToRead } from "../crawl/discovery.js";
import { forEachOf } from "../files/files.js";
import { count, object, pattern, text, valueIf } from "../schema.js";
import { documentKinds, isFinished, resultSchema } from "../segments/document-result.js";
import { writeResult } from "../segments/document-store.js";
import { segmentName, storedSchema } from "../segments/segment.js";
import { attemptOf, type OwnExchange, resultKey } from "./exchange.js";

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

/** A document that a worker has ended, as the exchange keeps it: read whole with its files, or failed or unstable without any. */
const submittedSchema = object({
  worker: text,
  /** The attempt whose files these are. */
  token: pattern("a UUID", /^[0-9a-f-]{36}$/),
  /** As a run stores it that resumes. */
  stored: storedSchema(resultSchema),
  /** Pages and child lists that were read. */
  pages: count,
  requests: requestsSchema,
});

export type SubmittedResult = v.InferOutput<typeof submittedSchema>;

interface AcceptOptions {
  readonly exchange: OwnExchange;
  /** The folder of the parts of this run. */
  readonly segments: string;
  /** The text formats of this run. */
  readonly formats: readonly string[];
}

/**
 * Accepts the result of a worker: puts its files beside the other segments of the run, as if this process had read them and had been
 * killed. Returns the result, which has nothing to accept if the document was not read whole; undefined where there is none yet;
 * `damaged`, with nothing accepted, where it is not that of the document or its files have other bytes.
 */
export async function acceptDocument(
  { ref, name }: DocumentToRead,
  { exchange, segments, formats }: AcceptOptions,
): Promise<SubmittedResult | "damaged" | undefined> {
  const content = await exchange.read(resultKey(name));
  if (content === undefined) return undefined;
  const submitted = valueIf(v.pipe(v.string(), v.parseJson(), submittedSchema), content);
  if (!submitted) return "damaged";
  const { token, stored } = submitted;
  const { state, segments: files } = stored;
  const isWhole = state.row.status === "complete";
  const row = isWhole ? state.row : { ...state.row, chunk_count: 0, child_chunk_count: 0 }; // others come without rows
  const parts = documentKinds.flatMap((kind) =>
    formats.map((format) => ({ kind, format, file: segmentName(name, kind, format) })),
  );
  const found = parts.filter((part) => files.some(({ file }) => file === part.file)); // fewer where one is named twice
  if (found.length < files.length || !isFinished(ref, { row, proof: state.proof, files: found }, formats))
    return "damaged";
  if (!isWhole) return submitted;
  const paths = files.map(({ file }) => join(segments, file));
  const removeAll = () => forEachOf(paths, 1, (path) => rm(path, { force: true }));
  await removeAll(); // an earlier process may have been killed right here
  for (const [index, { file, ...facts }] of files.entries()) {
    if (await exchange.take(`attempts/${attemptOf(name, token)}/${file}`, paths[index] ?? "", facts)) continue;
    await removeAll();
    return "damaged";
  }
  await writeResult(segments, name, stored);
  return submitted;
}
