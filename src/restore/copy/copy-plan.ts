import * as v from "valibot";
import { count, listOf, oneOf, orNull, result, text, truth } from "../../schema.js";

/**
 * The plan of a copy: how a dump becomes datasets and documents of another service. A plan is data and sends nothing. Texts may contain
 * anything the service sends, so they are not safe to print to a terminal.
 */

/** Settings of the service with any members. */
const settings: v.GenericSchema<object> = v.record(v.string(), v.unknown());

/** A part that is not copied. The plan announces it, so the proof does not count it as a difference. */
const loss = result({
  /** `chunks` and `children`: whole blank rows that the service refuses. `attachments`, `summaries`, `states`: parts of chunks. */
  part: oneOf(
    ...(["chunks", "children", "attachments", "summaries"] as const),
    ...(["states", "metadata", "settings", "process rule", "source"] as const),
  ),
  /** Rows of the dump that are affected; 1 for a setting. */
  rows: count,
  /** A sentence. */
  reason: text,
});
const losses = v.pipe(listOf(loss), v.description("parts that are not copied, as announced"));
export type Loss = v.InferOutput<typeof loss>;
export type LossPart = Loss["part"];

/** A metadata field of the dataset (not a built-in one): string, number or time. */
const field = result({ name: text, type: text });
export type FieldPlan = v.InferOutput<typeof field>;

/** The settings to create a dataset with, as the service expects them. */
const datasetSettings = result({
  description: text,
  indexing_technique: orNull(text),
  permission: text,
  embedding_model: orNull(text),
  embedding_model_provider: orNull(text),
  retrieval_model: orNull(settings),
  summary_index_setting: orNull(settings),
});

const target = v.pipe(
  v.variant("kind", [
    result({ kind: v.literal("new"), name: text }),
    result({ kind: v.literal("there"), id: text, name: text }),
  ]),
  v.description("the dataset to copy into: a new one, or an existing one"),
);
export type DatasetTarget = v.InferOutput<typeof target>;

const value = result({ name: text, value: orNull(v.union([text, v.number()])) });
export type ValuePlan = v.InferOutput<typeof value>;

/** A file of the dump, to upload; the path is absolute. */
const file = result({ path: text, name: text, mime_type: orNull(text), bytes: count, sha256: text });

/** An attachment of a chunk. `file` null: the service already has the file under the same id. */
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
  dataset_key: v.pipe(text, v.description("the key of its target dataset")),
  document_name: text,
  doc_form: text,
  doc_language: orNull(text),
  indexing_technique: orNull(text),
  /** Mode and rules, as the service expects them. */
  process_rule: settings,
  refused: v.pipe(orNull(text), v.description("why the document is left out; null: it is copied")),
  earlier: v.pipe(orNull(earlier), v.description("the copy that an earlier restore made; null: there is none")),
  /** Chunks to copy, how many of them end up disabled, and child chunks to copy. */
  chunks: count,
  disabled: count,
  children: count,
  /** Characters that the service embeds. */
  characters: count,
  metadata: listOf(value),
  enabled: truth,
  archived: truth,
  /** Attachments that can be bound; all others are losses. */
  attachments: listOf(attachment),
  attached: v.pipe(count, v.description("chunks that attachments are bound to")),
  losses,
});
export type DocumentPlan = v.InferOutput<typeof documentPlan>;

/** A dataset of the target. It gets the documents of one dataset of the dump that have the same form (`doc_form`). */
const datasetPlan = result({
  key: v.pipe(text, v.description("dataset_id, followed by the form if the documents have several forms")),
  dataset_id: text,
  dataset_name: text,
  target,
  settings: datasetSettings,
  fields: listOf(field),
  built_in_fields: truth,
  equipping: v.pipe(count, v.description("write requests that give the dataset the fields and tags that it lacks")),
  tags: listOf(text),
  losses,
  documents: listOf(documentPlan),
});
export type DatasetPlan = v.InferOutput<typeof datasetPlan>;

/** The whole plan; the copies of one dataset of the dump are adjacent. */
export const copyPlan = result({ datasets: listOf(datasetPlan) });
export type CopyPlan = v.InferOutput<typeof copyPlan>;

export function documentsIn({ datasets }: CopyPlan): readonly DocumentPlan[] {
  return datasets.flatMap(({ documents }) => documents);
}

/** The counts of a plan. Documents that are left out or already there count only in `left_out` and `there`. */
export const copyCounts = result({
  datasets: count,
  documents: count,
  left_out: count,
  there: count,
  chunks: count,
  children: count,
  characters: count,
  writes: v.pipe(count, v.description("expected write requests; there may be more")),
});

export function countCopy(plan: CopyPlan): v.InferOutput<typeof copyCounts> {
  const { datasets } = plan;
  const documents = documentsIn(plan);
  const ofState = (state: ReturnType<typeof stateOf>) => documents.filter((document) => stateOf(document) === state);
  const coming = ofState("comes");
  const sum = (countOf: (document: DocumentPlan) => number) => coming.reduce((all, each) => all + countOf(each), 0);
  const fresh = datasets.filter(isMade);
  const equipped = datasets.filter((dataset) => isMade(dataset) || isUsed(dataset));
  return {
    datasets: fresh.length,
    documents: coming.length,
    left_out: ofState("left out").length,
    there: ofState("there").length,
    chunks: sum(({ chunks }) => chunks),
    children: sum(({ children }) => children),
    characters: sum(({ characters }) => characters),
    writes: fresh.length + equipped.reduce((all, each) => all + each.equipping, 0) + sum(writesOf),
  };
}

export function stateOf({ refused, earlier }: DocumentPlan) {
  if (refused !== null) return "left out";
  return earlier?.state === "restored" ? "there" : "comes";
}

/** Whether to make a dataset: it is new, and it has documents to copy or has none in the dump either. */
export function isMade({ target, documents }: DatasetPlan): boolean {
  return (
    target.kind === "new" && (documents.length === 0 || documents.some((document) => stateOf(document) === "comes"))
  );
}

/** Whether an existing dataset gets or already has copies. Then it gets the fields and tags that it lacks, even if documents fail. */
function isUsed({ target, documents }: DatasetPlan): boolean {
  return target.kind === "there" && documents.some(({ refused }) => refused === null);
}

/** The planned writes of a document: to make it, delete its stub, add and change chunks, upload files, and set metadata and status. */
function writesOf(document: DocumentPlan): number {
  const { chunks, disabled, attached, attachments, metadata, enabled, archived } = document;
  const files = attachments.filter(({ file }) => file !== null).length;
  const rows = Math.ceil(chunks / firstRequest) + disabled + attached + files;
  return 2 + rows + (metadata.length > 0 ? 1 : 0) + (!enabled || archived ? 1 : 0);
}

/** How many chunks the first request of a document adds. Later requests grow while the service is quick. */
export const firstRequest = 20;

/**
 * The key of one copy of a dataset. A dataset of the dump may need several copies, because the service refuses a document whose form
 * differs from its dataset's (400 of create-by-text). The copy with the most frequent form has the dataset's id as its key; the
 * others have the id followed by the form.
 */
export function datasetKey(datasetId: string, form: string, mainForm: string): string {
  return form === mainForm ? datasetId : `${datasetId}/${form}`;
}

/** The id of the key's dataset in the dump. */
export function datasetIdOf(key: string): string {
  return key.split("/", 1)[0] ?? key;
}

/** The id and the name in the dump; the id is also the name if the run does not know it. */
export type NamedDataset = Pick<DatasetPlan, "key" | "dataset_id" | "dataset_name">;

/** The preferred name of a copy: the dataset's name, followed by the form if the key has one. It may be taken or too long. */
export function wishedName({ key, dataset_id, dataset_name }: NamedDataset): string {
  return key === dataset_id ? dataset_name : `${dataset_name} (${key.slice(dataset_id.length + 1)})`;
}

/** Maximum characters of a dataset's name, as the service counts them: POST /datasets refuses a longer one. */
export const longestName = 40;
