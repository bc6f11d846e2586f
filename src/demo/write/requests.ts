import * as v from "valibot";
import { listOf, object, text, truth } from "../../schema.js";
import { checked } from "./checked.js";

const optionalText = v.nullish(text);
const optionalTexts = v.nullish(listOf(text));

/** As in the service, the ids of files are checked and then ignored. */
const added = object({
  content: optionalText,
  answer: optionalText,
  keywords: optionalTexts,
  attachment_ids: optionalTexts,
});
const change = object({
  content: optionalText,
  answer: optionalText,
  keywords: optionalTexts,
  enabled: v.nullish(truth),
  regenerate_child_chunks: v.nullish(truth),
  attachment_ids: optionalTexts,
  summary: optionalText,
});

/** A chunk to add, as it was sent: its rules are checked later. */
export type AddedChunk = Readonly<v.InferOutput<typeof added>>;

/** The change of a chunk. */
export type ChunkChange = Readonly<v.InferOutput<typeof change>>;

const addRequest = object({ segments: listOf(added) });
const changeRequest = object({ segment: change });
const childRequest = object({ content: text });

/** The chunks of a request to add them. Throws a 400 that names every problem. */
export function checkAdd(body: unknown): readonly AddedChunk[] {
  return checked(addRequest, body).segments;
}

/** The change of a request to update a chunk; the same. */
export function checkChange(body: unknown): ChunkChange {
  return checked(changeRequest, body).segment;
}

/** The content of a child chunk; the same. */
export function checkChild(body: unknown): string {
  return checked(childRequest, body).content;
}
