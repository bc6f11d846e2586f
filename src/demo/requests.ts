import * as v from "valibot";
import { check, listOf, object, text, truth } from "../schema.js";
import { invalidParam } from "./knowledge.js";
import type { Asked } from "./routes.js";

const optionalText = v.nullish(text);
const optionalTexts = v.nullish(listOf(text));
const texts = { content: optionalText, answer: optionalText, keywords: optionalTexts, attachment_ids: optionalTexts };

/** As in the service, file ids are checked and then ignored. */
const added = object(texts);
const change = object({
  ...texts,
  ...{ enabled: v.nullish(truth), regenerate_child_chunks: v.nullish(truth), summary: optionalText },
});

/** A chunk to add, as sent. Its rules are checked later. */
export type AddedChunk = Readonly<v.InferOutput<typeof added>>;

export type ChunkChange = Readonly<v.InferOutput<typeof change>>;

export const addRequest = object({ segments: listOf(added) });
export const changeRequest = object({ segment: change });
export const childRequest = object({ content: text });

/** Parses the JSON body of a request. Throws a 400 that names every problem. */
export async function bodyOf<const Schema extends v.GenericSchema>(
  schema: Schema,
  { bytes }: Pick<Asked, "bytes">,
): Promise<v.InferOutput<Schema>> {
  return checked(schema, parseJson((await bytes()).toString()));
}

/** Checks a value. Throws a 400 that names every problem. */
export function checked<const Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = check(schema, value);
  if (result.problems === null) return result.value;
  throw invalidParam(result.problems.map(({ path, message }) => `${path || "the body"}: ${message}`).join("; "));
}

/** Parses JSON. Throws a 400 for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParam("The body is not valid JSON.");
  }
}
