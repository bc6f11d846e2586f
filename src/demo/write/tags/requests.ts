import * as v from "valibot";
import { listOf, object, text } from "../../../schema.js";
import { characters } from "../../sample/prose/compose.js";
import { checked } from "../checked.js";

const nameText = "a text of 1 to 50 characters";
const creation = object({
  name: v.pipe(
    v.string(nameText),
    v.check((value) => value !== "" && characters(value) <= 50, nameText),
  ),
});
const binding = object({ tag_ids: v.pipe(listOf(text), v.minLength(1, "a tag at least")), target_id: text });

/** The name of a request to create a tag. Throws a 400 that names every problem. */
export function checkTagName(body: unknown): string {
  return checked(creation, body).name;
}

/** The tags of a request to bind them, and the dataset to bind them to; the same. */
export function checkBinding(body: unknown) {
  return checked(binding, body);
}
