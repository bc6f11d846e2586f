import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";

/**
 * The plan of a copy: how a dump becomes datasets and documents of another service. A plan is data and sends nothing. Texts may hold
 * anything that a service sends: not safe for a terminal.
 */

/** Settings of the service, whatever their members. */
const settings: v.GenericSchema<object> = v.record(v.string(), v.unknown());

/** Something that does not come, and is announced. It is no difference for the proof. */
const loss = result({
  /** `chunks` and `children`: whole rows that the service refuses, as they say nothing. `attachments`, `summaries`, `states`: parts of chunks. */
  part: oneOf(
    ...(["chunks", "children", "attachments", "summaries"] as const),
    ...(["states", "metadata", "settings", "process rule", "source"] as const),
  ),
  /** Rows of the dump that lose it; 1 for a setting. */
  rows: count,
  /** A sentence. */
  reason: text,
});
const losses = v.pipe(listOf(loss), v.description("parts that do not come, and are announced"));
export type Loss = v.InferOutput<typeof loss>;
export type LossPart = Loss["part"];

/** A metadata field of a dataset's own: string, number or time. */
const field = result({ name: text, type: text });
export type FieldPlan = v.InferOutput<typeof field>;

/** The settings that a new dataset is made with, as the service takes them. */
const datasetSettings = result({
  description: text,
  indexing_technique: orNull(text),
  permission: text,
  embedding_model: orNull(text),
  embedding_model_provider: orNull(text),
  retrieval_model: orNull(settings),
  summary_index_setting: orNull(settings),
});
export type DatasetSettings = v.InferOutput<typeof datasetSettings>;

const target = v.pipe(
  v.variant("kind", [
    result({ kind: v.literal("new"), name: text }),
    result({ kind: v.literal("there"), id: text, name: text }),
  ]),
  v.description("the dataset that takes the documents: a new one, or one that is there"),
);
export type DatasetTarget = v.InferOutput<typeof target>;

/** The value of a metadata field of the dataset's own. */
const value = result({ name: text, value: orNull(v.union([text, v.number()])) });
export type ValuePlan = v.InferOutput<typeof value>;

/** A file of the dump, to upload; the path is absolute. */
const file = result({ path: text, name: text, mime_type: orNull(text), bytes: count, sha256: text });
export type FilePlan = v.InferOutput<typeof file>;

/** An attachment of a chunk. `file` null: the service has the file already, under the same id. */
const attachment = result({ id: text, file: orNull(file) });
export type AttachmentPlan = v.InferOutput<typeof attachment>;

/** A document of the target that this restore made earlier. */
const earlier = result({
  target_id: text,
  state: v.pipe(oneOf("begun", "restored"), v.description("begun: this command continues it")),
});
export type EarlierDocument = v.InferOutput<typeof earlier>;

/** Ids and names are those in the dump. */
const documentPlan = result({
  dataset_id: text,
  document_id: text,
  dataset_key: v.pipe(text, v.description("the key of the dataset that takes it")),
  document_name: text,
  doc_form: text,
  doc_language: orNull(text),
  indexing_technique: orNull(text),
  /** As the service takes it: mode and rules. */
  process_rule: settings,
  refused: v.pipe(orNull(text), v.description("why the document is left out; null: it comes")),
  earlier: v.pipe(orNull(earlier), v.description("the copy that an earlier restore made; null: there is none")),
  /** Chunks that come, those of them that end disabled, and child chunks that come. */
  chunks: count,
  disabled: count,
  children: count,
  /** Characters that the service embeds. */
  characters: count,
  metadata: listOf(value),
  enabled: truth,
  archived: truth,
  /** Attachments that can be bound; all others are a loss. */
  attachments: listOf(attachment),
  attached: v.pipe(count, v.description("chunks that attachments are bound to")),
  losses,
});
export type DocumentPlan = v.InferOutput<typeof documentPlan>;

/** A dataset of the target, which takes the documents of one form of a dataset of the dump. */
const datasetPlan = result({
  key: v.pipe(text, v.description("dataset_id, with the form behind it where the documents have several forms")),
  dataset_id: text,
  dataset_name: text,
  target,
  settings: datasetSettings,
  /** Metadata fields and tags that the dataset has to have. */
  fields: listOf(field),
  built_in_fields: truth,
  equipping: v.pipe(count, v.description("write requests that give the dataset the fields and tags that it lacks")),
  tags: listOf(text),
  losses,
  /** In the order of the dump. */
  documents: listOf(documentPlan),
});
export type DatasetPlan = v.InferOutput<typeof datasetPlan>;

/** All that a copy would do; the copies of one dataset of the dump stand together. */
export const copyPlan = result({ datasets: listOf(datasetPlan) });
export type CopyPlan = v.InferOutput<typeof copyPlan>;

/** A plan, counted. Documents that are left out, or there already, count nowhere but in their own member. */
export const copyCounts = result({
  datasets: count,
  documents: count,
  left_out: count,
  there: count,
  chunks: count,
  children: count,
  characters: count,
  writes: v.pipe(count, v.description("write requests to expect; they may become more")),
});
export type CopyCounts = v.InferOutput<typeof copyCounts>;

/**
 * The key of a copy: the service refuses a document whose form is not that of its dataset (400 of create-by-text), so that one
 * dataset of the dump may need several copies. The copy of the most frequent form has the id of the dataset as its key, every other the
 * form behind it.
 */
export function datasetKey(datasetId: string, form: string, mainForm: string): string {
  return form === mainForm ? datasetId : `${datasetId}/${form}`;
}

/** The id in the dump of the dataset that a key belongs to. */
export function datasetIdOf(key: string): string {
  return key.split("/", 1)[0] ?? key;
}

/** The name that a copy gets where it is free and short enough: that of the dataset, with the form behind it if the key has one. */
export function wishedName({
  key,
  dataset_id,
  dataset_name,
}: Pick<DatasetPlan, "key" | "dataset_id" | "dataset_name">) {
  return key === dataset_id ? dataset_name : `${dataset_name} (${key.slice(dataset_id.length + 1)})`;
}
