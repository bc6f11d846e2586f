import { RetryError } from "../errors.js";
import type { RawRecord } from "../rows/row.js";

/** A record of a list: its id is a string. */
export type Listed = RawRecord & { readonly id: string };

/** One page of a list. `total` is what the service says the whole list holds. */
export interface ListPage {
  readonly rows: readonly Listed[];
  readonly total: number;
  /** Of the document, on pages of chunks; null where the service does not say. */
  readonly docForm: string | null;
  /** As the service says it, whatever that is: no reading of a list goes by it. */
  readonly hasMore?: unknown;
}

/** A page of datasets, documents, chunks or child chunks; RetryError, naming the URL, when `data`, `total` or an `id` is missing. */
export function checkPage(value: unknown, url: string): ListPage {
  const body = checkObject(value, url);
  const rows = checkRecords(body.data, "data", url);
  const { total, doc_form: docForm } = body;
  if (typeof total !== "number" || !Number.isSafeInteger(total) || total < 0) {
    throw new RetryError(`GET ${url}: the answer has no whole number "total"`);
  }
  return {
    rows: rows.map((row, index) => checkListed(row, index, url)),
    total,
    docForm: typeof docForm === "string" ? docForm : null,
    hasMore: body.has_more,
  };
}

/** The entries of an indexing-status answer, which have an id each; RetryError, naming the URL, otherwise. */
export function checkStatus(value: unknown, url: string): readonly Listed[] {
  return checkRecords(checkObject(value, url).data, "data", url).map((row, index) => checkListed(row, index, url));
}

/** The built-in metadata fields; RetryError, naming the URL, when `fields` is missing. */
export function checkFields(value: unknown, url: string): readonly RawRecord[] {
  return checkRecords(checkObject(value, url).fields, "fields", url);
}

function checkObject(value: unknown, url: string): RawRecord {
  if (isRecord(value)) return value;
  throw new RetryError(`GET ${url}: the answer is no JSON object`);
}

function checkRecords(value: unknown, name: string, url: string): readonly RawRecord[] {
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw new RetryError(`GET ${url}: the answer has no list of objects ${JSON.stringify(name)}`);
}

function checkListed(row: RawRecord, index: number, url: string): Listed {
  if (isListed(row)) return row;
  throw new RetryError(`GET ${url}: row ${index + 1} has no "id"`);
}

/** Whether a value is an object with an id: a string that is not empty and well-formed. */
export function isListed(row: unknown): row is Listed {
  return isRecord(row) && typeof row.id === "string" && row.id !== "" && row.id.isWellFormed();
}

function isRecord(value: unknown): value is RawRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
