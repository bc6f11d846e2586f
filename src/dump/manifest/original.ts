import * as v from "valibot";
import { count, object, oneOf, pattern, text } from "../../schema.js";

/** The folder of a run folder in which the original files lie. */
export const originalsFolder = "originals";

/** `originals/<document>/<name>`: two names and nothing else, so that no path leads out of the folder. */
const originalPath = pattern(
  `the path of an original, such as ${originalsFolder}/a8e0…/Guide.pdf`,
  new RegExp(`^${originalsFolder}/[0-9a-z][0-9a-z_-]*/(?!\\.{1,2}$)[^/\\\\\\p{Cc}]+$`, "u"),
);

const facts = {
  dataset_id: text,
  document_id: text,
  /** The file is attached to a chunk, which is the first that has it; both null where the document was made from the file. */
  attachment_id: v.nullish(text, null),
  chunk_id: v.nullish(text, null),
  /** As the service names it; null where it did not. */
  name: v.nullable(text),
  mime_type: v.nullable(text),
  bytes: count,
  /** The size according to the service; null where it did not say. */
  expected_bytes: v.nullable(count),
  sha256: v.nullable(pattern("a SHA-256", /^[0-9a-f]{64}$/)),
  /** The id of the uploaded file; null where the service did not say. */
  file_id: v.nullish(text, null),
  verdict: oneOf("complete", "wrong size", "missing"),
  /** Why it is not complete; null where it is. */
  reason: v.nullable(text),
};

/** An original that has no place in a run folder yet. */
export const savedOriginalSchema = object(facts);

/** The file that a document was made from, or one attached to a chunk of it, as far as the service gave it. */
export const originalSchema = object({
  ...facts,
  /** Relative to the run folder; null where there is no file. */
  path: v.nullable(originalPath),
});

export type SavedOriginal = v.InferOutput<typeof savedOriginalSchema>;
export type Original = v.InferOutput<typeof originalSchema>;
