import { textIn } from "../../../compare/document-rows.js";
import { isMapping } from "../../../schema.js";

/** The columns of `datasets` that a move looks at. */
export const datasetNames = [
  ...["dataset_id", "name", "description", "permission", "indexing_technique", "embedding_model"],
  ...["embedding_model_provider", "doc_form", "retrieval_model", "summary_index_setting", "doc_metadata"],
  ...["built_in_field_enabled", "tags", "runtime_mode", "pipeline_id"],
];

/** The settings of a dataset, as far as the run could read them. */
export interface DatasetDetails {
  readonly dataset_id: string;
  /** Null where the service did not give the settings. */
  readonly name: string | null;
  readonly description: string | null;
  readonly permission: string | null;
  readonly indexing_technique: string | null;
  readonly embedding_model: string | null;
  readonly embedding_model_provider: string | null;
  readonly doc_form: string | null;
  readonly retrieval_model: object | null;
  readonly summary_index_setting: object | null;
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  readonly built_in_fields: boolean;
  readonly tags: readonly string[];
  readonly runtime_mode: string | null;
  readonly pipeline_id: string | null;
}

/** The settings of a dataset of which the run could read nothing. */
export function unknownDataset(dataset_id: string): DatasetDetails {
  return datasetFrom({ dataset_id });
}

/** The settings of a dataset from the values of its columns; lists and objects are JSON texts. */
export function datasetFrom(row: Readonly<Record<string, unknown>>): DatasetDetails {
  return {
    dataset_id: textIn(row.dataset_id) ?? "",
    name: textIn(row.name),
    description: textIn(row.description),
    permission: textIn(row.permission),
    indexing_technique: textIn(row.indexing_technique),
    embedding_model: textIn(row.embedding_model),
    embedding_model_provider: textIn(row.embedding_model_provider),
    doc_form: textIn(row.doc_form),
    retrieval_model: objectIn(row.retrieval_model),
    summary_index_setting: objectIn(row.summary_index_setting),
    fields: listIn(row.doc_metadata)
      .filter((field) => !isBuiltIn(field))
      .flatMap(({ name, type }) => (typeof name === "string" ? [{ name, type: textIn(type) ?? "string" }] : [])),
    built_in_fields: row.built_in_field_enabled === true,
    tags: [...new Set(listIn(row.tags).map(({ name }) => textIn(name)))].filter((name) => name !== null),
    runtime_mode: textIn(row.runtime_mode),
    pipeline_id: textIn(row.pipeline_id),
  };
}

/** The columns of `document_details` that a move looks at. */
export const documentNames = [
  ...["dataset_id", "document_id", "name", "doc_form", "doc_language", "doc_metadata", "data_source_type"],
  ...["process_rule", "archived", "enabled"],
];

/** The settings of a document. */
export interface DocumentDetails {
  readonly dataset_id: string;
  readonly document_id: string;
  readonly name: string | null;
  readonly doc_form: string | null;
  readonly doc_language: string | null;
  readonly data_source_type: string | null;
  readonly process_rule: Readonly<Record<string, unknown>> | null;
  /** The values of metadata fields of the dataset's own. */
  readonly values: readonly { readonly name: string; readonly value: unknown }[];
  readonly enabled: boolean;
  readonly archived: boolean;
}

/** The settings of a document from the values of its columns, likewise. */
export function documentFrom(row: Readonly<Record<string, unknown>>): DocumentDetails {
  return {
    dataset_id: textIn(row.dataset_id) ?? "",
    document_id: textIn(row.document_id) ?? "",
    name: textIn(row.name),
    doc_form: textIn(row.doc_form),
    doc_language: textIn(row.doc_language),
    data_source_type: textIn(row.data_source_type),
    process_rule: objectIn(row.process_rule),
    values: listIn(row.doc_metadata)
      .filter((field) => !isBuiltIn(field))
      .flatMap(({ name, value = null }) => (typeof name === "string" ? [{ name, value }] : [])),
    enabled: row.enabled !== false,
    archived: row.archived === true,
  };
}

/** The names of the built-in fields, which the service lets no field of a dataset's own have (GET metadata/built-in). */
const builtInNames: readonly unknown[] = ["document_name", "uploader", "upload_date", "last_update_date", "source"];

/** Whether a metadata field is one that every dataset has: the service gives it among the others, with the id `built-in`. */
function isBuiltIn({ id, name }: Readonly<Record<string, unknown>>): boolean {
  return id === "built-in" || builtInNames.includes(name);
}

function objectIn(json: unknown): Readonly<Record<string, unknown>> | null {
  const value = valueIn(json);
  return isMapping(value) ? value : null;
}

function listIn(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  const value = valueIn(json);
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

function valueIn(json: unknown): unknown {
  return typeof json === "string" ? JSON.parse(json) : null;
}
