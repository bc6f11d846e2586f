import type { Connection } from "../../duckdb/open-duckdb.js";
import { streamTexts } from "../../duckdb/read-rows.js";
import { checkRows } from "../../dump/load.js";
import type { Dump } from "../../dump/open-dump.js";
import { documentKey } from "../../rows/row.js";
import { cutText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import { textIn } from "../document-rows.js";
import type { LoadOptions } from "../load-document-rows.js";

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
  const datasets = await readRows(connection, dump, "datasets", datasetFrom, options);
  const documents = await readRows(connection, dump, "document_details", documentFrom, options);
  return {
    datasets: new Map(datasets.map((dataset) => [dataset.dataset_id, dataset])),
    documents: new Map(documents.map((document) => [documentKey(document), document])),
  };
}

type DetailsRow = Readonly<Record<string, unknown>>;

export type DatasetDetails = ReturnType<typeof datasetFrom>;

/** From a row or an answer of the service; lists and objects may be JSON texts. Null and undefined: the service did not show them. */
export function datasetFrom(row: DetailsRow) {
  const tags = listIn(row.tags)?.flatMap(({ name }) => textIn(name) ?? []);
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
    fields: ownFields(row.doc_metadata)?.map(({ name, type }) => ({ name, type: textIn(type) ?? "string" })),
    built_in_fields: truthIn(row.built_in_field_enabled),
    tags: tags && [...new Set(tags)],
    runtime_mode: textIn(row.runtime_mode),
    pipeline_id: textIn(row.pipeline_id),
  };
}

export type DocumentDetails = ReturnType<typeof documentFrom>;

export function documentFrom(row: DetailsRow) {
  return {
    dataset_id: textIn(row.dataset_id) ?? "",
    document_id: textIn(row.document_id) ?? "",
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

async function readRows<Details>(
  connection: Connection,
  dump: Dump,
  kind: "datasets" | "document_details",
  from: (row: DetailsRow) => Details,
  { signal }: LoadOptions,
): Promise<readonly Details[]> {
  const rows: Details[] = [];
  const [file] = dump.tablesOf([kind]) ?? [];
  if (!file) return rows;
  const { sql } = await checkRows(dump, file, { signal });
  try {
    for await (const texts of streamTexts(connection, "to_json(row)::VARCHAR", `${sql} row`))
      for (const text of texts) rows.push(from(JSON.parse(text)));
  } catch (error) {
    throw dump.unreadable(file, error);
  }
  return rows;
}

function processRuleFrom(rule: DetailsRow | null): { readonly mode: string; readonly rules?: object } | null {
  const { mode, rules } = rule ?? {};
  if (mode === "automatic") return { mode };
  return typeof mode === "string" && isMapping(rules) ? { mode, rules } : null;
}

/** The names of the built-in fields, which no other field of a dataset may have (GET metadata/built-in). */
const builtInNames: readonly unknown[] = ["document_name", "uploader", "upload_date", "last_update_date", "source"];

/** The metadata fields of a dataset or document, without the built-in ones (the id `built-in`, or one of `builtInNames`). */
function ownFields(json: unknown): readonly (DetailsRow & { readonly name: string })[] | undefined {
  return listIn(json)?.flatMap((field) =>
    typeof field.name === "string" && field.id !== "built-in" && !builtInNames.includes(field.name)
      ? [{ ...field, name: field.name }]
      : [],
  );
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

/** The dataset of a document's copy as it is in the run. Its fields are undefined if the run does not know them. */
type CopiedInto = Pick<DatasetDetails, "fields">;

/**
 * Compares the settings of a document with those at the service, and returns a sentence for each difference. Skips settings that the run
 * does not have. `copied`: null if it is the same document, not a copy.
 */
export function compareDocument(
  old: DocumentDetails,
  live: DocumentDetails,
  copied: CopiedInto | null,
): readonly string[] {
  return [
    ...compareSetting("name", old.name, live.name),
    ...compareSetting("state (enabled)", old.enabled, live.enabled),
    ...compareSetting("state (archived)", old.archived, live.archived),
    ...compareSetting("indexing status", copied ? "completed" : old.indexing_status, live.indexing_status),
    ...compareMetadata(old, live, copied),
    ...compareSetting("form", old.doc_form, live.doc_form),
    ...compareSetting("language", old.doc_language, live.doc_language),
    ...compareMembers("process rule", old.process_rule, live.process_rule, copied !== null),
  ];
}

function compareMetadata(old: DocumentDetails, live: DocumentDetails, copied: CopiedInto | null): readonly string[] {
  const [before, now] = [old, live].map(({ values }) => new Map(values.map(({ name, value }) => [name, value])));
  const names = new Set([...old.values, ...live.values].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [value, there] = [before?.get(name), now?.get(name)];
    // A value needs a field, and must be a text or a number. The plan announces all others as losses.
    const hasField = copied?.fields?.some((field) => field.name === name) === true;
    const canCome = copied === null || (hasField && (typeof value === "string" || typeof value === "number"));
    const isLost = isNothing(there) && !canCome;
    return isLost || isSameMetadata(value, there) ? [] : compareValue(`metadata value "${name}"`, value, there);
  });
}

export interface CopiedDataset {
  /** The planned name. */
  readonly name: string;
  /** Whether the dataset existed before the copy. If so, it has its own settings, and they are not compared. */
  readonly existed: boolean;
  /** Tags that could not be bound; already reported. */
  readonly missingTags: readonly string[];
}

/** Compares the settings of a dataset like `compareDocument`. `copied`: null if it is the same dataset, not one that holds copies. */
export function compareDataset(
  old: DatasetDetails,
  live: DatasetDetails,
  copied: CopiedDataset | null,
): readonly string[] {
  const hasOwn = copied?.existed ?? false;
  const tags = old.tags?.filter((tag) => !copied?.missingTags.includes(tag));
  const isShown = hasOwn ? old.built_in_fields || null : old.built_in_fields; // its own setting may show them anyway
  return [
    ...compareSetting("name", copied?.name ?? old.name, live.name),
    ...(hasOwn || old.name === null ? [] : compareDatasetSettings(old, live, copied !== null)),
    ...compareNames("metadata fields", fieldTexts(old), fieldTexts(live), hasOwn),
    ...compareNames("tags", tags, live.tags, hasOwn),
    ...compareSetting("switch for built-in metadata fields", isShown, live.built_in_fields),
  ];
}

/** The permission of a copy. `partial_members` becomes `only_me`, because POST /datasets accepts no list of members. */
export function copiedPermission({ permission }: DatasetDetails): string | null {
  return permission === "partial_members" ? "only_me" : permission;
}

/**
 * Compares the settings that a dataset is created with. Of a provider's name, only the last part counts: openai and
 * langgenius/openai/openai are the same provider in different releases.
 */
export function compareDatasetSettings(old: DatasetDetails, live: DatasetDetails, isCopy: boolean): readonly string[] {
  const permission = isCopy ? copiedPermission(old) : old.permission;
  const providerOf = ({ embedding_model_provider: name }: DatasetDetails) => name?.split("/").at(-1) ?? null;
  const isEmbedded = old.indexing_technique === "high_quality";
  return [
    ...compareValue("description", old.description, live.description),
    ...compareSetting("permission", permission, live.permission),
    ...compareSetting("indexing technique", old.indexing_technique, live.indexing_technique),
    ...compareSetting("embedding model", isEmbedded ? old.embedding_model : null, live.embedding_model),
    ...compareSetting("provider of the embedding model", isEmbedded ? providerOf(old) : null, providerOf(live)),
    ...compareMembers("retrieval model", old.retrieval_model, live.retrieval_model, isCopy),
  ];
}

function fieldTexts({ fields }: DatasetDetails): readonly string[] | undefined {
  return fields?.map(({ name, type }) => `${name} (${type})`);
}

/** `mayHaveMore`: whether names that the run lacks are allowed, because the dataset existed before. */
function compareNames(
  what: string,
  old: readonly string[] | undefined,
  live: readonly string[] | undefined,
  mayHaveMore: boolean,
): readonly string[] {
  if (old === undefined || live === undefined) return [];
  const missing = old.filter((each) => !live.includes(each));
  const more = mayHaveMore ? [] : live.filter((each) => !old.includes(each));
  return [
    ...(missing.length > 0 ? [`its ${what} lack ${missing.join(", ")}`] : []),
    ...(more.length > 0 ? [`its ${what} have ${more.join(", ")} more than in the run`] : []),
  ];
}

/** Compares a setting, unless the run does not have it. */
function compareSetting(what: string, old: unknown, live: unknown): readonly string[] {
  return isNothing(old) ? [] : compareValue(what, old, live);
}

/** Returns a difference as a text: `its name is "b" at the service, and "a" in the run`. */
function compareValue(what: string, old: unknown, live: unknown): readonly string[] {
  if (isSameValue(old, live)) return [];
  return [`its ${what} is ${valueText(live)} at the service, and ${valueText(old)} in the run`];
}

const longestValue = 80;

function valueText(value: unknown): string {
  return isNothing(value) ? "nothing" : cutText(JSON.stringify(value), longestValue);
}

/** A sentence that names the differing members of a setting. `onlyKnown`: compares only members that the run has. */
function compareMembers(what: string, old: unknown, live: unknown, onlyKnown: boolean): readonly string[] {
  if (isNothing(old)) return [];
  const members = differingMembers(old, live, onlyKnown);
  return members.length > 0 ? [`its ${what} differs in ${members.join(", ")}`] : [];
}

/**
 * The members that differ, as paths such as `rules.segmentation.max_tokens`. With `onlyKnown`, members that are empty in `one` do not
 * count: a newer service shows members that an older one did not have.
 */
export function differingMembers(one: unknown, other: unknown, onlyKnown: boolean): readonly string[] {
  const [left, right] = [one, other].map((value) => (isMapping(value) ? value : {}));
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  return [...names].flatMap((name) => {
    const [mine, theirs] = [left?.[name], right?.[name]];
    if (isSameValue(mine, theirs) || (onlyKnown && isNothing(mine))) return [];
    if (!isMapping(mine) || !isMapping(theirs)) return [name];
    return differingMembers(mine, theirs, onlyKnown).map((path) => `${name}.${path}`);
  });
}

/** Whether two values mean the same: null, absent members and empty values are all equal, and the order of members does not matter. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return plainText(one) === plainText(other);
}

function isNothing(value: unknown): boolean {
  return plainText(value) === "";
}

/** Like `isSameValue`, for metadata values: a service may show a number as text. */
export function isSameMetadata(one: unknown, other: unknown): boolean {
  const isTextOf = (text: unknown, number: unknown) =>
    typeof text === "string" && text.trim() !== "" && Number(text) === number;
  return isSameValue(one, other) || isTextOf(one, other) || isTextOf(other, one);
}

/** JSON text with members sorted by name and without empty ones; the empty text for an empty value. */
function plainText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(plainText).join(",")}]`;
  if (!isMapping(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .map(([name, member]) => [name, plainText(member)] as const)
    .filter(([, text]) => text !== "")
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return members.length === 0 ? "" : `{${members.join(",")}}`;
}
