import { join } from "node:path";
import * as v from "valibot";
import type { DocumentToRead } from "../crawl/discovery.js";
import { count, object, pattern, text, valueIf } from "../schema.js";
import { writeResult } from "../segments/document-on-disk.js";
import { documentKinds, isFinished, resultSchema } from "../segments/document-result.js";
import { requestSumSchema } from "../segments/request-sum.js";
import { segmentName, storedSchema } from "../segments/segment.js";
import { attemptOf, type OwnExchange, resultKey } from "./exchange.js";

/** A worker's result for a document. Only a completely read document has files; a failed or unstable one has none. */
const submittedSchema = object({
  worker: text,
  /** The attempt that wrote the files. */
  token: pattern("a UUID", /^[0-9a-f-]{36}$/),
  /** In the form that a resumed run stores. */
  stored: storedSchema(resultSchema),
  /** How many pages and child lists the worker read for it. */
  pages: count,
  /** Requests that the worker sent since its last result. */
  requests: requestSumSchema,
});

export type SubmittedResult = v.InferOutput<typeof submittedSchema>;

interface AcceptOptions {
  readonly exchange: OwnExchange;
  /** The folder for segments of this run. */
  readonly segments: string;
  /** The text formats of this run. */
  readonly formats: readonly string[];
}

/**
 * Accepts the result of a worker: moves its files to the other segments of the run, as if an earlier process had read them.
 * Returns the result, or undefined if there is none yet; a result without a complete document has no files to accept.
 * Returns `damaged`, and accepts nothing, if it is for another document or its files have other bytes.
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
  const row = isWhole ? state.row : { ...state.row, chunk_count: 0, child_chunk_count: 0 }; // incomplete documents have no rows
  const parts = documentKinds.flatMap((kind) =>
    formats.map((format) => ({ kind, format, file: segmentName(name, kind, format) })),
  );
  const found = parts.filter((part) => files.some(({ file }) => file === part.file)); // fewer than `files` if a file is named twice
  if (found.length < files.length || !isFinished(ref, { row, proof: state.proof, files: found }, formats))
    return "damaged";
  if (!isWhole) return submitted;
  // If this fails or the process is killed in between, the taken files do not count, because there is no result.
  for (const { file, ...facts } of files)
    if (!(await exchange.take(`attempts/${attemptOf(name, token)}/${file}`, join(segments, file), facts)))
      return "damaged";
  await writeResult(segments, name, stored);
  return submitted;
}
