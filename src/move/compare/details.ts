import { textIn } from "../../restore/json-fields.js";
import type { Row } from "../../rows/row.js";
import { isMapping } from "../../schema.js";
import { isNothing } from "./same-value.js";

/** The settings of a dataset, as a dump has them. Undefined and null: the service did not show them. */
export interface DatasetDetails {
  readonly name: string | null;
  readonly description: string | null;
  readonly permission: string | null;
  readonly indexing_technique: string | null;
  readonly embedding_model: string | null;
  readonly embedding_model_provider: string | null;
  readonly retrieval_model: unknown;
  /** The type of its own metadata fields, by name; undefined where nobody knows them. */
  readonly fields: ReadonlyMap<string, string> | undefined;
  /** Names; undefined where nobody knows them. */
  readonly tags: ReadonlySet<string> | undefined;
  readonly built_in_field_enabled: boolean | null;
}

/** The settings of a document, likewise. */
export interface DocumentDetails {
  readonly name: string | null;
  readonly doc_form: string | null;
  readonly doc_language: string | null;
  readonly enabled: boolean | null;
  readonly archived: boolean | null;
  readonly indexing_status: string | null;
  /** Null where the service did not tell the whole of it. The mode `automatic` has no rules. */
  readonly process_rule: { readonly mode: string; readonly rules?: unknown } | null;
  /** The values of the dataset's own metadata fields, by the name of the field; those that are nothing are left out. */
  readonly metadata: ReadonlyMap<string, unknown>;
}

export function datasetDetailsFrom(row: Row): DatasetDetails {
  return {
    name: textIn(row.name),
    description: textIn(row.description),
    permission: textIn(row.permission),
    indexing_technique: textIn(row.indexing_technique),
    embedding_model: textIn(row.embedding_model),
    embedding_model_provider: textIn(row.embedding_model_provider),
    retrieval_model: row.retrieval_model,
    fields: listIn(
      row.doc_metadata,
      (fields) =>
        new Map(fields.filter((field) => !isBuiltIn(field)).map(({ name, type }) => [String(name), String(type)])),
    ),
    tags: listIn(row.tags, (tags) => new Set(tags.map(({ name }) => String(name)))),
    built_in_field_enabled: truthIn(row.built_in_field_enabled),
  };
}

export function documentDetailsFrom(row: Row): DocumentDetails {
  const values = listIn(row.doc_metadata, (list) =>
    list.filter((field) => !isBuiltIn(field) && !isNothing(field.value)),
  );
  return {
    name: textIn(row.name),
    doc_form: textIn(row.doc_form),
    doc_language: textIn(row.doc_language),
    enabled: truthIn(row.enabled),
    archived: truthIn(row.archived),
    indexing_status: textIn(row.indexing_status),
    process_rule: processRuleFrom(row.process_rule),
    metadata: new Map(values?.map(({ name, value }) => [String(name), value])),
  };
}

function processRuleFrom(rule: unknown): DocumentDetails["process_rule"] {
  const { mode, rules } = isMapping(rule) ? rule : {};
  if (mode === "automatic") return { mode };
  return typeof mode === "string" && isMapping(rules) ? { mode, rules } : null;
}

/** The names of the built-in fields, which no field of a dataset's own can have (GET metadata/built-in). */
const builtInNames: readonly unknown[] = ["document_name", "uploader", "upload_date", "last_update_date", "source"];

/** Whether a field is one that every dataset has, and whose values the service makes itself. */
function isBuiltIn({ id, name }: Row): boolean {
  return id === "built-in" || builtInNames.includes(name);
}

function listIn<T>(value: unknown, from: (list: readonly Row[]) => T): T | undefined {
  return Array.isArray(value) ? from(value.filter(isMapping)) : undefined;
}

function truthIn(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}
