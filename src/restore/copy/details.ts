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

export type DatasetDetails = ReturnType<typeof datasetFrom>;

/**
 * The settings of a dataset, from a row or an answer of the service; lists and objects may be JSON texts. Null and undefined: the service
 * did not show them.
 */
export function datasetFrom(row: DetailsRow) {
  const tags = listIn(row.tags)?.flatMap(({ name }) => textIn(name) ?? []);
  return {
    dataset_id: idIn(row.dataset_id),
    name: textIn(row.name),
    description: textIn(row.description),
    permission: textIn(row.permission),
    indexing_technique: textIn(row.indexing_technique),
    embedding_model: textIn(row.embedding_model),
    embedding_model_provider: textIn(row.embedding_model_provider),
    doc_form: textIn(row.doc_form),
    retrieval_model: objectIn(row.retrieval_model),
    summary_index_setting: objectIn(row.summary_index_setting),
    fields: ownFields(row.doc_metadata)?.map(({ name, type }) => ({ name, type: textIn(type) ?? "string" })),
    built_in_fields: truthIn(row.built_in_field_enabled),
    tags: tags && [...new Set(tags)],
    runtime_mode: textIn(row.runtime_mode),
    pipeline_id: textIn(row.pipeline_id),
  };
}

export type DocumentDetails = ReturnType<typeof documentFrom>;

/** The settings of a document, from a row. */
export function documentFrom(row: DetailsRow) {
  return {
    dataset_id: idIn(row.dataset_id),
    document_id: idIn(row.document_id),
    name: textIn(row.name),
    doc_form: textIn(row.doc_form),
    doc_language: textIn(row.doc_language),
    values: (ownFields(row.doc_metadata) ?? []).map(({ name, value = null }) => ({ name, value })),
    data_source_type: textIn(row.data_source_type),
    /** Mode and rules, as the service expects them; the mode `automatic` has no rules. Null if the service does not show all of it. */
    process_rule: processRuleFrom(objectIn(row.process_rule)),
    archived: truthIn(row.archived),
    enabled: truthIn(row.enabled),
    indexing_status: textIn(row.indexing_status),
  };
}

async function* rowsOf(
  connection: Connection,
  dump: Dump,
  kind: "datasets" | "document_details",
  { signal }: LoadOptions,
): AsyncGenerator<DetailsRow> {
  const [file] = dump.tablesOf([kind]) ?? [];
  if (!file) return;
  const { sql } = await checkRows(dump, file, { signal });
  try {
    for await (const texts of streamTexts(connection, "to_json(row)::VARCHAR", `${sql} row`))
      for (const text of texts) yield JSON.parse(text);
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
