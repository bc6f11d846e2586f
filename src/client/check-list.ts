import * as v from "valibot";
import { RetryError } from "../errors.js";
import type { RawRecord } from "../rows/row.js";
import { count, object, text } from "../schema.js";

/** A record of a list: its id is a string. */
export type Listed = RawRecord & { readonly id: string };

/** One page of a list. `total` is what the service says the whole list holds. */
export interface ListPage {
  readonly rows: readonly Listed[];
  readonly total: number;
  /** The form of the document, on pages of chunks; null where the service does not say. */
  readonly docForm: string | null;
  /** As the service says it, whatever that is: no reading of a list goes by it. */
  readonly hasMore?: unknown;
}

/** Records as they came: neither they nor their list is copied. */
const recordsIn = (name: string) =>
  v.custom<readonly RawRecord[]>(areRecords, `the answer has no list of objects "${name}"`);
const listed = v.custom<readonly Listed[]>(
  (value) => Array.isArray(value) && value.every(isListed),
  ({ input }) =>
    areRecords(input)
      ? `row ${input.findIndex((row) => !isListed(row)) + 1} has no "id"`
      : 'the answer has no list of objects "data"',
);

const one = v.custom<Listed>(isListed, 'the answer has no object "data" with an "id"');

const recordsSchema = object({ data: listed });
const dataSchema = object({ data: one });
const tagsSchema = object({ data: recordsIn("data") });
const fieldsSchema = object({ fields: recordsIn("fields") });
const pageSchema = object({
  data: listed,
  total: v.custom<number>((value) => v.is(count, value), 'the answer has no whole number "total"'),
  doc_form: v.fallback(v.nullable(text), null),
  has_more: v.optional(v.unknown()),
});

/** A page of datasets, documents, chunks or child chunks; RetryError, naming the URL, when `data`, `total` or an `id` is missing. */
export function checkPage(value: unknown, url: string): ListPage {
  const { data, total, doc_form, has_more } = checked(pageSchema, value, url);
  return { rows: data, total, docForm: doc_form, hasMore: has_more };
}

/** The records of a list without a total, as an indexing-status answer is; RetryError, naming the URL, otherwise. */
export function checkRecords(value: unknown, url: string): readonly Listed[] {
  return checked(recordsSchema, value, url).data;
}

/** The one record of an answer; RetryError, naming the URL, when it is missing. */
export function checkData(value: unknown, url: string): Listed {
  return checked(dataSchema, value, url).data;
}

/** The built-in metadata fields; RetryError, naming the URL, when `fields` is missing. */
export function checkFields(value: unknown, url: string): readonly RawRecord[] {
  return checked(fieldsSchema, value, url).fields;
}

/** The tags of a dataset; RetryError, naming the URL, when `data` is missing. */
export function checkTags(value: unknown, url: string): readonly RawRecord[] {
  return checked(tagsSchema, value, url).data;
}

/** The tags of all datasets: a list without an object around it, or a list `data`; RetryError, naming the URL, otherwise. */
export function checkTagList(value: unknown, url: string): readonly Listed[] {
  return checkRecords(Array.isArray(value) ? { data: value } : value, url);
}

/** One object; RetryError, naming the URL, when the answer is none. */
export function checkRecord(value: unknown, url: string): RawRecord {
  if (isRecord(value)) return value;
  throw new RetryError(`GET ${url}: the answer is no JSON object`);
}

/** One object with an id, likewise. */
export function checkListed(value: unknown, url: string): Listed {
  const record = checkRecord(value, url);
  if (isListed(record)) return record;
  throw new RetryError(`GET ${url}: the answer has no "id"`);
}

/** The name in the details of a dataset; null when there is none. */
export function checkName(value: unknown): string | null {
  return isRecord(value) && typeof value.name === "string" ? value.name : null;
}

function checked<const Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  url: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [{ path, message }] = result.issues;
  throw new RetryError(`GET ${url}: ${path ? message : "the answer is no JSON object"}`);
}

/** Whether a value is an object with an id: a string that is not empty and well-formed. */
export function isListed(row: unknown): row is Listed {
  return isRecord(row) && typeof row.id === "string" && row.id !== "" && row.id.isWellFormed();
}

function areRecords(value: unknown): value is readonly RawRecord[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isRecord(value: unknown): value is RawRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
