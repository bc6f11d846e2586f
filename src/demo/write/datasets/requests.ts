import * as v from "valibot";
import { object, oneOf, openObject, text } from "../../../schema.js";
import { characters } from "../../sample/prose/compose.js";
import { checked } from "../checked.js";

const nameText = "a text of 1 to 40 characters";
const name = v.pipe(
  v.string(nameText),
  v.check((value) => value.trim() !== "" && characters(value) <= 40, nameText),
);

const settings = {
  description: v.nullish(text),
  indexing_technique: v.nullish(oneOf("high_quality", "economy")),
  permission: v.nullish(oneOf("only_me", "all_team_members", "partial_members")),
  embedding_model: v.nullish(text),
  embedding_model_provider: v.nullish(text),
  retrieval_model: v.nullish(openObject({})),
  summary_index_setting: v.nullish(openObject({})),
};

const creation = object({ name, ...settings, provider: v.nullish(text) });
const change = object({ name: v.nullish(name), ...settings });

/** A dataset to create, as it was sent. */
export type DatasetCreation = Readonly<v.InferOutput<typeof creation>>;

/** The change of a dataset: null and what is left out change nothing. */
export type DatasetChange = Readonly<v.InferOutput<typeof change>>;

/** The dataset of a request to create it. Throws a 400 that names every problem. */
export function checkCreation(body: unknown): DatasetCreation {
  return checked(creation, body);
}

/** The change of a request to update a dataset; the same. */
export function checkChange(body: unknown): DatasetChange {
  return checked(change, body);
}
