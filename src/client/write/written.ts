import { RetryError } from "../../errors.js";
import { isMapping } from "../../schema.js";
import { jsonOf } from "../check-answer.js";
import { checkData, checkListed, checkRecords, type Listed } from "../check-list.js";
import { plainText } from "../plain-text.js";
import type { Answer } from "../send.js";

/** Reads the answer to a write that was done. Throws where it is not the service's. */
export type ReadAnswer<T> = (answer: Answer, key: string) => T;

/** The row that a write made or changed, as the service answered it. */
export interface WrittenRow {
  readonly id: string;
  /** The status of a chunk: completed, error and others. Null for a child chunk. */
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's own words on why it could not index the chunk; empty where it says none. */
  readonly error: string;
}

/** Something that was created. */
export interface Created {
  readonly id: string;
}

export interface CreatedDataset extends Created {
  readonly name: string;
}

export interface CreatedDocument extends Created {
  /** The batch whose indexing status tells when the document is ready. */
  readonly batch: string;
}

/** The one row of an answer: an added chunk comes in a list, everything else alone. */
export const readRow: ReadAnswer<WrittenRow> = (answer, key) => {
  const body = jsonOf(answer, key);
  const isList = isMapping(body) && Array.isArray(body.data);
  return writtenRow(isList ? single(checkRecords(body, answer.url), answer.url) : checkData(body, answer.url), key);
};

/** As many rows as were sent, in their order. */
export function readRows(count: number): ReadAnswer<readonly WrittenRow[]> {
  return (answer, key) => {
    const records = checkRecords(jsonOf(answer, key), answer.url);
    if (records.length !== count) throw wrongCount(answer.url, count, records.length);
    return records.map((record) => writtenRow(record, key));
  };
}

export const readCreated: ReadAnswer<Created> = (answer, key) => {
  const { id } = checkListed(jsonOf(answer, key), answer.url);
  return { id };
};

export const readDataset: ReadAnswer<CreatedDataset> = (answer, key) => {
  const { id, name } = checkListed(jsonOf(answer, key), answer.url);
  return { id, name: textIn(name, "name", answer.url) };
};

export const readDocument: ReadAnswer<CreatedDocument> = (answer, key) => {
  const body = jsonOf(answer, key);
  const { document, batch } = isMapping(body) ? body : {};
  return { id: checkListed(document, answer.url).id, batch: textIn(batch, "batch", answer.url) };
};

/** Nothing is to be learned: a 204, or any JSON object, as `{"result": "success"}`. */
export const readNothing: ReadAnswer<null> = (answer, key) => {
  if (answer.status === 204 || isMapping(jsonOf(answer, key))) return null;
  throw new RetryError(`${answer.url}: the answer is no JSON object`);
};

/** Any success of a DELETE: release 1.12.1 answers 200 with the body `204`, later ones 204 without a body. No web page is one. */
export const readDeleted: ReadAnswer<null> = (answer, key) => {
  if (answer.body.length > 0) jsonOf(answer, key);
  return null;
};

function single([record, ...others]: readonly Listed[], url: string): Listed {
  if (!record || others.length > 0) throw wrongCount(url, 1, record ? others.length + 1 : 0);
  return record;
}

function wrongCount(url: string, sent: number, answered: number): RetryError {
  return new RetryError(`${url}: ${sent} sent, and the answer has ${answered}`);
}

function textIn(value: unknown, name: string, url: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new RetryError(`${url}: the answer has no "${name}"`);
}

function writtenRow({ id, status, enabled, error }: Listed, key: string): WrittenRow {
  const words = typeof error === "string" ? error : error === null || error === undefined ? "" : JSON.stringify(error);
  return {
    id,
    status: typeof status === "string" ? status : null,
    enabled: enabled !== false,
    error: plainText(words, key),
  };
}
