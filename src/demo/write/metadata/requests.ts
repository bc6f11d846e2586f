import * as v from "valibot";
import { listOf, object, oneOf, text } from "../../../schema.js";
import { checked } from "../checked.js";

const creation = object({ type: oneOf("string", "number", "time"), name: text });
const value = object({
  id: text,
  name: text,
  value: v.nullish(v.union([v.string(), v.number()], "a text, a number or null")),
});
const operations = object({
  operation_data: listOf(object({ document_id: text, metadata_list: listOf(value) })),
});

/** A metadata field to create. */
export type FieldCreation = Readonly<v.InferOutput<typeof creation>>;

/** The values that a document shall have in place of all that it has. */
export type MetadataOperation = Readonly<v.InferOutput<typeof operations>>["operation_data"][number];

/** The field of a request to create it. Throws a 400 that names every problem. */
export function checkField(body: unknown): FieldCreation {
  return checked(creation, body);
}

/** The operations of a request to set the values of documents; the same. */
export function checkOperations(body: unknown): readonly MetadataOperation[] {
  return checked(operations, body).operation_data;
}
