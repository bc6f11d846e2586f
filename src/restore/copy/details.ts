import * as v from "valibot";
import { textIn } from "../../compare/document-rows.js";
import type { LoadOptions } from "../../compare/load-document-rows.js";
import type { Connection } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { checkRows } from "../../dump/load.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { isMapping } from "../../schema.js";

/** The settings of the datasets and documents of a dump. */
export interface DumpDetails {
  /** By id, in the order of the run. */
  readonly datasets: ReadonlyMap<string, DatasetDetails>;
  /** By `documentKey`. */
  readonly documents: ReadonlyMap<string, DocumentDetails>;
}

/** The value of the option `details` that a dump was made with, judging by its tables. */
export function detailsIn(dump: Dump): "auto" | boolean {
  if (!dump.tablesOf(["datasets", "document_details"])) return false;
  return dump.manifest.options.details === "auto" ? "auto" : true;
}

/** Reads the settings in a dump; a job without `details` has none. Throws StopError if a file differs from its manifest. */
export async function readDetails(connection: Connection, dump: Dump, options: LoadOptions): Promise<DumpDetails> {
  const [datasets, documents] = [new Map<string, DatasetDetails>(), new Map<string, DocumentDetails>()];
  for await (const row of rowsOf(connection, dump, "datasets", options)) {
    const dataset = datasetFrom(row);
    datasets.set(dataset.dataset_id, dataset);
  }
  for await (const row of rowsOf(connection, dump, "document_details", options)) {
    const document = documentFrom(row);
    documents.set(documentKey(document), document);
  }
  return { datasets, documents };
}

type DetailsRow = Readonly<Record<string, unknown>>;

/** A column with the function that parses its value; null if the row lacks it. */
function column<T>(read: (value: unknown) => T) {
  return v.optional(v.pipe(v.unknown(), v.transform(read)), null);
}

const [id, text, truth, object] = [column(idIn), column(textIn), column(truthIn), column(objectIn)];

/** The columns with a dataset's settings, as far as the run could read them; null and undefined: the service did not show them. */
const datasetColumns = v.object({
  dataset_id: id,
  name: text,
  description: text,
  permission: text,
  indexing_technique: text,
  embedding_model: text,
  embedding_model_provider: text,
  doc_form: text,
  retrieval_model: object,
  summary_index_setting: object,
  doc_metadata: column(ownFields),
  built_in_field_enabled: truth,
  tags: column((value) => listIn(value) && [...new Set(listIn(value)?.flatMap(({ name }) => textIn(name) ?? []))]),
  runtime_mode: text,
  pipeline_id: text,
});

const dataset = v.pipe(
  datasetColumns,
  v.transform(({ doc_metadata, built_in_field_enabled: built_in_fields, ...others }) => ({
    ...others,
    /** The dataset's metadata fields, without built-in ones. */
    fields: doc_metadata?.map(({ name, type }) => ({ name, type: textIn(type) ?? "string" })),
    built_in_fields,
  })),
);
export type DatasetDetails = Readonly<v.InferOutput<typeof dataset>>;

/** The settings of a dataset, from a row or an answer of the service; lists and objects may be JSON texts. */
export function datasetFrom(row: DetailsRow): DatasetDetails {
  return v.parse(dataset, row);
}

const documentColumns = v.object({
  dataset_id: id,
  document_id: id,
  name: text,
  doc_form: text,
  doc_language: text,
  doc_metadata: column(ownFields),
  data_source_type: text,
  /** Mode and rules, as the service expects them; the mode `automatic` has no rules. Null if the service does not show all of it. */
  process_rule: column((value) => processRuleFrom(objectIn(value))),
  archived: truth,
  enabled: truth,
  indexing_status: text,
});

const document = v.pipe(
  documentColumns,
  v.transform(({ doc_metadata, ...others }) => ({
    ...others,
    /** The values of the dataset's metadata fields, without built-in ones. */
    values: (doc_metadata ?? []).map(({ name, value = null }) => ({ name, value })),
  })),
);
export type DocumentDetails = Readonly<v.InferOutput<typeof document>>;

/** The settings of a document from the values of its columns. */
export function documentFrom(row: DetailsRow): DocumentDetails {
  return v.parse(document, row);
}

const columns = {
  datasets: Object.keys(datasetColumns.entries),
  document_details: Object.keys(documentColumns.entries),
};

async function* rowsOf(
  connection: Connection,
  dump: Dump,
  kind: keyof typeof columns,
  { signal }: LoadOptions,
): AsyncGenerator<DetailsRow> {
  const [file] = dump.tablesOf([kind]) ?? [];
  if (!file) return;
  const { sql } = await checkRows(dump, file, { signal });
  const row = `to_json({${columns[kind].map((name) => `'${name}': "${name}"`).join(", ")}})::VARCHAR`;
  try {
    for await (const texts of streamTexts(connection, row, sql)) for (const text of texts) yield JSON.parse(text);
  } catch (error) {
    throw dump.unreadable(file, error);
  }
}

function processRuleFrom(rule: DetailsRow | null): { readonly mode: string; readonly rules?: object } | null {
  const { mode, rules } = rule ?? {};
  if (mode === "automatic") return { mode };
  return typeof mode === "string" && isMapping(rules) ? { mode, rules } : null;
}

/** The names of the built-in fields, which no other field of a dataset may have (GET metadata/built-in). */
const builtInNames: readonly unknown[] = ["document_name", "uploader", "upload_date", "last_update_date", "source"];

/** The dataset's metadata fields, without the built-in ones, which the service lists with the id `built-in`. */
function ownFields(json: unknown): readonly (DetailsRow & { readonly name: string })[] | undefined {
  return listIn(json)?.flatMap((field) =>
    typeof field.name === "string" && field.id !== "built-in" && !builtInNames.includes(field.name)
      ? [{ ...field, name: field.name }]
      : [],
  );
}

function idIn(value: unknown): string {
  return textIn(value) ?? "";
}

function objectIn(json: unknown): DetailsRow | null {
  const value = valueIn(json);
  return isMapping(value) ? value : null;
}

function listIn(json: unknown): readonly DetailsRow[] | undefined {
  const value = valueIn(json);
  return Array.isArray(value) ? value.filter(isMapping) : undefined;
}

function truthIn(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

function valueIn(json: unknown): unknown {
  return typeof json === "string" ? JSON.parse(json) : json;
}
