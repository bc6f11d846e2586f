import * as v from "valibot";
import { check, listOf, object, text, truth } from "../../schema.js";
import { invalidParam, Refusal } from "../knowledge.js";
import type { IncomingFile } from "../store/file-store.js";

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

/** The value of a request with its type. Throws a 400 that names every problem. */
export function checked<const Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = check(schema, body);
  if (result.problems === null) return result.value;
  throw invalidParam(result.problems.map(({ path, message }) => `${path || "the body"}: ${message}`).join("; "));
}

/** The one file of a form. Throws a 400 for none, for more than one, and for one without a name. */
export async function fileFrom(form: FormData): Promise<IncomingFile> {
  const [file, ...others] = [...form.values()].filter((value) => typeof value !== "string");
  if (!file || !form.has("file")) throw new Refusal(400, "no_file_uploaded", "Please upload your file.");
  if (others.length > 0) throw new Refusal(400, "too_many_files", "Only one file is allowed.");
  if (file.name.trim() === "") throw invalidParam("The specified filename does not exist.");
  const bytes = Buffer.from(await file.arrayBuffer());
  return { name: file.name, mimeType: file.type || "application/octet-stream", bytes };
}
