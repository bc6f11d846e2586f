import type * as v from "valibot";
import { check } from "../../schema.js";
import { invalidParam } from "../refusal.js";

/** The value of a request with its type. Throws a 400 that names every problem. */
export function checked<const Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = check(schema, body);
  if (result.problems === null) return result.value;
  throw invalidParam(result.problems.map(({ path, message }) => `${path || "the body"}: ${message}`).join("; "));
}
