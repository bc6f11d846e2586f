import * as v from "valibot";
import { count, listOf, object, oneOf, openObject, text, truth } from "../../../schema.js";
import { automaticRule, type ProcessRule } from "../../store/process-rule.js";
import { checked } from "../checked.js";

const filledText = "a text that is not blank";
const filled = v.pipe(
  v.string(filledText),
  v.check((value) => value.trim() !== "", filledText),
);

const segmentation = openObject({
  separator: v.pipe(text, v.minLength(1, "a text that is not empty")),
  max_tokens: v.pipe(count, v.minValue(1, "a whole number from 1")),
  chunk_overlap: v.nullish(count),
});
const rules = openObject({
  pre_processing_rules: listOf(openObject({ id: text, enabled: truth })),
  segmentation,
  parent_mode: v.nullish(oneOf("full-doc", "paragraph")),
  subchunk_segmentation: v.nullish(segmentation),
});
const ruledRequest = object({ process_rule: object({ rules }) });

const settings = {
  doc_form: v.nullish(oneOf("text_model", "qa_model", "hierarchical_model")),
  doc_language: v.nullish(text),
  indexing_technique: v.nullish(oneOf("high_quality", "economy")),
  process_rule: v.nullish(object({ mode: oneOf("automatic", "custom", "hierarchical") })),
  retrieval_model: v.nullish(openObject({})),
  embedding_model: v.nullish(text),
  embedding_model_provider: v.nullish(text),
};

const creation = object({ name: filled, text: filled, ...settings });
const fileSettings = object(settings);
const named = object({ document_ids: listOf(text) });

/** The settings of a document to create. `rule` is undefined if the request has none. */
export interface CreationSettings extends Readonly<Omit<v.InferOutput<typeof fileSettings>, "process_rule">> {
  readonly rule: ProcessRule | undefined;
}

/** A document to create from a text. */
export interface TextCreation extends CreationSettings {
  readonly name: string;
  readonly text: string;
}

/** The document of a request to create it from a text. Throws a 400 that names every problem. */
export function checkTextCreation(body: unknown): TextCreation {
  const { process_rule, ...fields } = checked(creation, body);
  return { ...fields, rule: process_rule ? ruleFrom(process_rule.mode, body) : undefined };
}

/** The settings of a request to create a document from a file; the same. */
export function checkFileSettings(data: unknown): CreationSettings {
  const { process_rule, ...fields } = checked(fileSettings, data);
  return { ...fields, rule: process_rule ? ruleFrom(process_rule.mode, data) : undefined };
}

/** The ids of a request that is about several documents; the same. */
export function checkDocumentIds(body: unknown): readonly string[] {
  return checked(named, body).document_ids;
}

/** Rules that come with the automatic mode are ignored. */
function ruleFrom(mode: ProcessRule["mode"], body: unknown): ProcessRule {
  if (mode === "automatic") return automaticRule;
  return { mode, rules: checked(ruledRequest, body).process_rule.rules };
}
