import * as v from "valibot";
import { RetryError } from "../errors.js";
import { parseJson } from "../rows/exact-json.js";
import type { RawRecord } from "../rows/row.js";
import { plainText } from "../safe-text.js";
import { count, isMapping, object, text } from "../schema.js";
import type { MessageFacts } from "./failed-request.js";
import { errorFromAnswer, textOf } from "./refused-answer.js";
import type { Answer } from "./retry.js";

/** Parses the JSON of a 200 answer. For any other status it throws the error from `errorFromAnswer`; for a broken body, RetryError. */
export function checkAnswer(answer: Answer, facts: MessageFacts): unknown {
  if (answer.status !== 200) throw errorFromAnswer(answer, facts);
  return jsonOf(answer, facts.key);
}

/** Parses the JSON of an answer with any status. Throws RetryError for a broken body. */
export function jsonOf(answer: Answer, key: string): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
  } catch {
    // Names no cause, because a SyntaxError quotes the body, which may contain the key. Cuts the text at "?", because the
    // query of a link may be a signature.
    const start = plainText(textOf(answer), key, 60).replace(/\?.*/s, "?…") || "(empty)";
    throw new RetryError(`GET ${answer.url}: the body is not valid JSON: ${start}`, { status: answer.status });
  }
}

export type Listed = RawRecord & { readonly id: string };

/** One page of a list. `total` is the size of the whole list according to the service. */
export interface ListPage {
  readonly rows: readonly Listed[];
  readonly total: number;
  /** The `doc_form` of the document, which the service sends with pages of chunks; null if it does not. */
  readonly docForm: string | null;
  /** When the service sent the answer, by its own clock, in milliseconds since 1970; undefined without a Date header. */
  readonly answeredAt?: number | undefined;
}

/** Schema of a list of records. It copies neither the list nor the records. */
const recordsIn = (name: string) =>
  v.custom<readonly RawRecord[]>(areRecords, `the answer has no list of objects "${name}"`);
const listed = v.custom<readonly Listed[]>(
  (value) => Array.isArray(value) && value.every(isListed),
  ({ input }) =>
    areRecords(input)
      ? `row ${input.findIndex((row) => !isListed(row)) + 1} has no "id"`
      : 'the answer has no list of objects "data"',
);

const page = object({
  data: listed,
  total: v.custom<number>((value) => v.is(count, value), 'the answer has no whole number "total"'),
  doc_form: v.fallback(v.nullable(text), null),
});

/** Returns a function that checks an answer against a schema. It throws RetryError, naming the URL, for an invalid answer. */
function checkOf<const Schema extends v.GenericSchema, T>(schema: Schema, found: (value: v.InferOutput<Schema>) => T) {
  return (value: unknown, url: string): T => {
    const result = v.safeParse(schema, value, { abortEarly: true });
    if (result.success) return found(result.output);
    throw new RetryError(
      `GET ${url}: ${isMapping(value) ? result.issues[0].message : "the answer is not a JSON object"}`,
    );
  };
}

/** Checks a page of datasets, documents, chunks or child chunks. */
export const checkPage = checkOf(page, ({ data, total, doc_form }): ListPage => {
  return { rows: data, total, docForm: doc_form };
});

/** Like checkPage, and adds the time of the answer from the Date header, to the second. */
export function checkDatedPage(value: unknown, url: string, { headers }: Answer): ListPage {
  const time = Date.parse(String(headers.date));
  return { ...checkPage(value, url), answeredAt: Number.isNaN(time) ? undefined : time };
}

/** Checks a list without a total, such as an indexing-status answer. */
export const checkRecords = checkOf(object({ data: listed }), ({ data }) => data);

/** Checks an answer with a single record in `data`. */
export const checkData = checkOf(
  object({ data: v.custom<Listed>(isListed, 'the answer has no object "data" with an "id"') }),
  ({ data }) => data,
);

/** Checks the built-in metadata fields. */
export const checkFields = checkOf(object({ fields: recordsIn("fields") }), ({ fields }) => fields);

export const checkTags = checkOf(object({ data: recordsIn("data") }), ({ data }) => data);

/** Checks the tags of all datasets: a bare list, or a list in `data`. */
export function checkTagList(value: unknown, url: string): readonly Listed[] {
  return checkRecords(Array.isArray(value) ? { data: value } : value, url);
}

/** Checks that the answer is an object. */
export const checkRecord = checkOf(v.custom<RawRecord>(isRecord), (record) => record);

/** Checks that the answer is an object with an id. */
export const checkListed = checkOf(v.custom<Listed>(isListed, 'the answer has no "id"'), (record) => record);

/** Whether a value is an object whose id is a non-empty, well-formed string. */
export function isListed(row: unknown): row is Listed {
  return isRecord(row) && typeof row.id === "string" && row.id !== "" && row.id.isWellFormed();
}

function areRecords(value: unknown): value is readonly RawRecord[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isRecord(value: unknown): value is RawRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
