import type { ChildRow, ChunkRow } from "../../compare/document-rows.js";

/**
 * The plan of a move: how a dump becomes datasets and documents of another service. A plan is data and sends nothing. Texts may hold
 * anything that a service sends: not safe for a terminal.
 */

/** `chunks`: word for word. `originals`: the files that the documents were made from, for the service to cut anew. */
export type MoveFrom = "chunks" | "originals";

/** Something that does not come, and is announced. It is no difference for the proof. */
export interface Loss {
  readonly part: LossPart;
  /** Rows of the dump that lose it; 1 for a setting. */
  readonly rows: number;
  /** The reason as a sentence. */
  readonly reason: string;
}

/**
 * `chunks` and `children`: whole rows that the service refuses, as they say nothing. `attachments`, `summaries`: parts of
 * chunks. `metadata`: values without a field. `settings`: of a dataset. `process rule`, `source`, `name`: of a document.
 */
export type LossPart =
  | "chunks"
  | "children"
  | "attachments"
  | "summaries"
  | "metadata"
  | "settings"
  | "process rule"
  | "source"
  | "name";

/** A metadata field of a dataset's own. */
export interface FieldPlan {
  readonly name: string;
  /** string, number or time. */
  readonly type: string;
}

/** The settings that a new dataset is made with, as the service takes them. */
export interface DatasetSettings {
  readonly description: string;
  readonly indexing_technique: string | null;
  readonly permission: string;
  readonly embedding_model: string | null;
  readonly embedding_model_provider: string | null;
  readonly retrieval_model: object | null;
  readonly summary_index_setting: object | null;
}

/** `new`: it is made, with this name. `there`: it is empty, or this restore made it earlier. */
export type DatasetTarget =
  | { readonly kind: "new"; readonly name: string }
  | { readonly kind: "there"; readonly id: string; readonly name: string };

/** A dataset of the target, which takes the documents of one form of a dataset of the dump. */
export interface DatasetPlan {
  /** As `datasetKey` makes it: the journal knows the dataset by it. */
  readonly key: string;
  /** Id and name in the dump. */
  readonly dataset_id: string;
  readonly dataset_name: string;
  readonly target: DatasetTarget;
  readonly settings: DatasetSettings;
  /** Metadata fields that the dataset has to have. */
  readonly fields: readonly FieldPlan[];
  readonly built_in_fields: boolean;
  /** Names of tags. */
  readonly tags: readonly string[];
  /** Write requests that give the dataset those of its fields and tags that it lacks. */
  readonly equipping: number;
  readonly losses: readonly Loss[];
  /** In the order of the dump. */
  readonly documents: readonly DocumentPlan[];
}

/** The value of a metadata field of the dataset's own. */
export interface ValuePlan {
  readonly name: string;
  readonly value: string | number | null;
}

/** A file of the dump, to upload. */
export interface FilePlan {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly mime_type: string | null;
  readonly bytes: number;
  readonly sha256: string;
}

/** An attachment of a chunk. `file` null: the service has the file already, under the same id. */
export interface AttachmentPlan {
  /** Id in the dump. */
  readonly id: string;
  readonly file: FilePlan | null;
}

export interface DocumentPlan {
  /** Ids in the dump. */
  readonly dataset_id: string;
  readonly document_id: string;
  /** The key of the dataset that takes it. */
  readonly dataset_key: string;
  readonly document_name: string;
  readonly doc_form: string;
  readonly doc_language: string | null;
  readonly indexing_technique: string | null;
  /** As the service takes it: mode and rules. */
  readonly process_rule: object;
  /** Why the document is left out, as a sentence; null where it comes. */
  readonly refused: string | null;
  /** The state that an earlier process of this restore left it in; null where there was none. */
  readonly earlier: EarlierDocument | null;
  /** Chunks that come, those of them that end disabled, and child chunks that come. */
  readonly chunks: number;
  readonly disabled: number;
  readonly children: number;
  /** Characters that the service embeds. */
  readonly characters: number;
  readonly metadata: readonly ValuePlan[];
  readonly enabled: boolean;
  readonly archived: boolean;
  /** The file to upload, with `originals`. */
  readonly original: FilePlan | null;
  /** Attachments that can be bound; all others are a loss. */
  readonly attachments: readonly AttachmentPlan[];
  /** Chunks that they are bound to. */
  readonly attached: number;
  readonly losses: readonly Loss[];
}

/** A document of the target that this restore made earlier. */
export interface EarlierDocument {
  readonly target_id: string;
  /** `failed`: it is tried again only with --retry-failed. */
  readonly state: "begun" | "restored" | "failed";
  /** Why it failed. */
  readonly reason: string | null;
}

/** All that a move would do. */
export interface MovePlan {
  readonly from: MoveFrom;
  /** In the order of the dump; those of one dataset of the dump stand together. */
  readonly datasets: readonly DatasetPlan[];
}

/** A plan, counted. Documents that are left out, or there already, count nowhere but in their own member. */
export interface MoveCounts {
  readonly datasets: number;
  readonly documents: number;
  readonly left_out: number;
  readonly there: number;
  readonly chunks: number;
  readonly children: number;
  readonly characters: number;
  /** Write requests to expect; the service's cap and its children may make it more. */
  readonly writes: number;
}

/**
 * Whether a chunk can come: the service refuses a chunk without content, and in qa_model documents one without an answer (400 of
 * POST segments). Plan, writes and proof all go by this.
 */
export function canCome({ content, answer }: Pick<ChunkRow, "content" | "answer">, docForm: string | null): boolean {
  if (content.trim() === "") return false;
  return docForm !== "qa_model" || (answer ?? "").trim() !== "";
}

/** The same for a child chunk. */
export function childCanCome({ content }: Pick<ChildRow, "content">): boolean {
  return content.trim() !== "";
}

/**
 * The name of a copy that is made of the file of a document: the service names a document by its file, and reads the file by the
 * ending of that name. Where the document was renamed to something with another ending, the copy has the name of the file.
 */
export function copyName(documentName: string, fileName: string): string {
  return endingOf(documentName) === endingOf(fileName) ? documentName : fileName;
}

function endingOf(name: string): string {
  return /\.[^.]*$/.exec(name)?.[0].toLowerCase() ?? "";
}

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
