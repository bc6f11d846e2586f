import { type DocumentId, textIn } from "../../../compare/document-rows.js";
import { ofDocument } from "../../../compare/load-document-rows.js";
import type { Connection } from "../../../duckdb/open-duckdb.js";
import { sqlText } from "../../../duckdb/sql.js";
import { checkRows, loadRows } from "../../../dump/load.js";
import type { Dump } from "../../../dump/open-dump.js";
import { ExactNumber, jsonText, parseJson } from "../../../rows/exact-json.js";
import type { Row } from "../../../rows/row.js";
import { cutText } from "../../../safe-text.js";
import { isMapping } from "../../../schema.js";

/** The settings of a dataset, as a dump has them. Undefined and null: the service did not show them. */
export interface DatasetDetails {
  readonly name: string | null;
  readonly description: string | null;
  readonly permission: string | null;
  readonly indexing_technique: string | null;
  readonly embedding_model: string | null;
  readonly embedding_model_provider: string | null;
  readonly retrieval_model: unknown;
  /** The type of its own metadata fields, by name; undefined where they are not known. */
  readonly fields: ReadonlyMap<string, string> | undefined;
  /** Names; undefined where they are not known. */
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

function datasetDetailsFrom(row: Row): DatasetDetails {
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

function documentDetailsFrom(row: Row): DocumentDetails {
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

/** Reads the settings in a dump; undefined for what the dump does not have. */
export interface ReadDetails {
  readonly dataset: (datasetId: string) => Promise<DatasetDetails | undefined>;
  readonly document: (document: DocumentId) => Promise<DocumentDetails | undefined>;
}

const nothing: ReadDetails = { dataset: async () => undefined, document: async () => undefined };

const keys = ["dataset_id", "dataset_id, document_id"];

/**
 * Loads the settings of a dump into tables whose names begin with `name`, and reads them one at a time. The dump of a job without
 * `details` has none. StopError when a file is not as its run wrote it.
 */
export async function loadDetails(connection: Connection, name: string, dump: Dump): Promise<ReadDetails> {
  const files = dump.tablesOf(["datasets", "document_details"]);
  if (files === undefined) return nothing;
  for (const [at, listed] of files.entries()) {
    await loadRows(connection, dump, await checkRows(dump, listed, { json: "JSON" }), {
      name: `${name}_${listed.kind}`,
      statement: (rows) => `SELECT ${keys[at]}, to_json(r)::VARCHAR AS json FROM ${rows} AS r`,
    });
  }
  return {
    dataset: async (id) =>
      readRow(connection, `${name}_datasets WHERE dataset_id = ${sqlText(id)}`, datasetDetailsFrom),
    document: async (document) =>
      readRow(connection, `${name}_document_details WHERE ${ofDocument(document)}`, documentDetailsFrom),
  };
}

async function readRow<T>(connection: Connection, place: string, from: (row: Row) => T): Promise<T | undefined> {
  const found = await connection.runAndReadAll(`SELECT json FROM ${place}`);
  const row = found.getRowsJson().map(([text]) => parseJson(String(text)))[0];
  return isMapping(row) ? from(row) : undefined;
}

/**
 * Whether two values say the same thing, maybe in other words: null, an absent member, and an empty text, list or object are all
 * nothing, and the order of members means nothing.
 */
export function isSameValue(one: unknown, other: unknown): boolean {
  return plainText(one) === plainText(other);
}

/** Whether a value is nothing, in any of these words. */
export function isNothing(value: unknown): boolean {
  return plainText(value) === "";
}

/** The same for values of metadata: a service may show a number as its text. */
export function isSameMetadata(one: unknown, other: unknown): boolean {
  return isSameValue(one, other) || isTextOf(one, other) || isTextOf(other, one);
}

function isTextOf(text: unknown, number: unknown): boolean {
  if (typeof text !== "string" || text.trim() === "") return false;
  return number instanceof ExactNumber ? number.text === text.trim() : Number(text) === number;
}

/**
 * The members that differ, as paths such as `rules.segmentation.max_tokens`. With `onlyKnown`, members that are nothing in `one` do not
 * count: a newer service shows members that an older one did not have.
 */
export function differingMembers(one: unknown, other: unknown, onlyKnown: boolean): readonly string[] {
  const [left, right] = [membersOf(one), membersOf(other)];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].flatMap((name) => {
    const [mine, theirs] = [left[name], right[name]];
    if (isSameValue(mine, theirs) || (onlyKnown && isNothing(mine))) return [];
    if (!isMapping(mine) || !isMapping(theirs)) return [name];
    return differingMembers(mine, theirs, onlyKnown).map((path) => `${name}.${path}`);
  });
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

/** JSON text with members in the order of their names, and without those that are nothing; the empty text for nothing. */
function plainText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return value.length === 0 ? "" : `[${value.map(plainText).join(",")}]`;
  if (!isMapping(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .map(([name, member]) => [name, plainText(member)] as const)
    .filter(([, text]) => text !== "")
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return members.length === 0 ? "" : `{${members.join(",")}}`;
}

/** A sentence if a setting differs. One that the run does not know is not compared. */
export function compareSetting(what: string, old: unknown, live: unknown): readonly string[] {
  return isNothing(old) || isSameValue(old, live) ? [] : [differenceText(what, old, live)];
}

/** `its name is "b" at the service, and "a" in the run` */
export function differenceText(what: string, old: unknown, live: unknown): string {
  return `its ${what} is ${valueText(live)} at the service, and ${valueText(old)} in the run`;
}

/** A sentence if a setting that has members differs, with their names. `onlyKnown`: those that the run knows. */
export function compareMembers(what: string, old: unknown, live: unknown, onlyKnown: boolean): readonly string[] {
  if (isNothing(old)) return [];
  const members = differingMembers(old, live, onlyKnown);
  return members.length > 0 ? [`its ${what} differs in ${members.join(", ")}`] : [];
}

const longestValue = 80;

function valueText(value: unknown): string {
  return isNothing(value) ? "nothing" : cutText(jsonText(value), longestValue);
}
