import * as v from "valibot";
import { RetryError, SkipError, StopError, UnknownRouteError } from "../errors.js";
import { parseJson } from "../rows/exact-json.js";
import type { RawRecord } from "../rows/row.js";
import { plainText } from "../safe-text.js";
import { count, isMapping, object, text } from "../schema.js";
import { hintFor, isUnknownUrl, jobFileNames, keyHint, type Refusal, type SettingNames } from "./failed-request.js";
import type { Answer } from "./send.js";

const planLimit = /reached the knowledge base request rate limit/i;

/** Parses the JSON of a 200 answer. For any other status it throws the error from `errorFromAnswer`; for a broken body, RetryError. */
export function checkAnswer(answer: Answer, key: string, names?: SettingNames): unknown {
  if (answer.status !== 200) throw errorFromAnswer(answer, key, undefined, names);
  return jsonOf(answer, key);
}

/** Parses the JSON of an answer with any status. Throws RetryError for a broken body. */
export function jsonOf(answer: Answer, key: string): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
  } catch {
    // No cause, because a SyntaxError quotes the body, which may contain the key. No query of a link, because it may be a
    // signature.
    const start = plainText(textOf(answer), key, 60).replace(/\?.*/s, "?…") || "(empty)";
    throw new RetryError(`GET ${answer.url}: the body is not valid JSON: ${start}`, { status: answer.status });
  }
}

/**
 * Turns an answer into the error that says what to do next: retry what may pass, stop at a wrong key, skip everything else. Adds a
 * hint if there is one. A 404 for a route that the service lacks becomes an UnknownRouteError. `keyPlace`: where the key came
 * from, if known. `names`: the setting names to use in hints.
 */
export function errorFromAnswer(
  answer: Answer,
  key: string,
  keySource?: string,
  names: SettingNames = jobFileNames,
): RetryError | SkipError | StopError {
  const { status, url } = answer;
  const { code, message } = refusalOf(answer, key);
  const said = [status, code, message].filter(Boolean).join(" ");
  const failure = { status, ...(code ? { code } : {}) };
  if (isPluginGone(answer)) return new RetryError(`GET ${url}: ${said}`, { ...failure, trouble: "gone" });
  const limited = status === 403 && planLimit.test(message);
  if (isTransient(status) || limited) {
    const after = retryAfter(answer.headers["retry-after"]);
    const throttled = status === 429 || limited || (status === 503 && after !== undefined);
    return new RetryError(`GET ${url}: ${said}`, {
      ...failure,
      throttled,
      ...(after === undefined ? {} : { retryAfter: after }),
    });
  }
  if (status === 401) return new StopError(`GET ${url}: ${said}${keyHint(key, keySource)}`, failure);
  const refused = `GET ${url}: ${said}${hintFor(answer, { code, message }, key, names)}`;
  const isUnknownRoute = status === 404 && isUnknownUrl({ code, message });
  return isUnknownRoute ? new UnknownRouteError(refused, failure) : new SkipError(refused, failure);
}

/** Whether a request that got this status may succeed if it is sent again. */
export function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Returns the wait that the service asks for, in milliseconds, if it refused because of too many requests; otherwise undefined. */
export function throttleOf(answer: Answer): { readonly retryAfter: number | undefined } | undefined {
  if (answer.status === 200) return undefined;
  const error = errorFromAnswer(answer, "");
  return error instanceof RetryError && error.throttled ? { retryAfter: error.retryAfter } : undefined;
}

/** The code and message of the service's error; if there is none, the title or start of the body. */
export function refusalOf(answer: Answer, key: string): Refusal {
  const text = textOf(answer);
  const { code, message } = ownError(answer);
  const [name, words] = [typeof code === "string" ? code : "", wordsOf(message)];
  if (name || words) return { code: plainText(name, key, 60), message: plainText(words, key) };
  const title = titleOf(text) ?? text;
  return { code: "", message: plainText(title, key, 100).replace(new RegExp(`^${answer.status}\\b *`), "") };
}

/** The title of a web page. */
export function titleOf(text: string): string | undefined {
  return /<title>([^<]*)<\/title>/i.exec(text)?.[1];
}

/** Whether a 400 says that the service's plugin daemon is down. The request is not at fault then. */
export function isPluginGone(answer: Answer): boolean {
  if (answer.status !== 400) return false;
  const { code, message } = ownError(answer);
  return code === "invalid_param" && typeof message === "string" && /^Failed to request plugin daemon\b/.test(message);
}

/** The service's own error; empty if a proxy answered instead. */
export function ownError(answer: Answer): { readonly code?: unknown; readonly message?: unknown } {
  try {
    const value: unknown = JSON.parse(textOf(answer));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Some services send an object with one message per wrong parameter. */
function wordsOf(message: unknown): string {
  if (typeof message === "string") return message;
  return message === undefined || message === null ? "" : JSON.stringify(message);
}

/** The part of the body that a message can need. */
export function textOf({ body }: Answer): string {
  return Buffer.from(body.subarray(0, 100_000)).toString();
}

/** Milliseconds from a Retry-After header, given in seconds or as a date; undefined if unusable. */
export function retryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN; // Date.parse accepts even "-5"
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export type Listed = RawRecord & { readonly id: string };

/** One page of a list. `total` is the size of the whole list according to the service. */
export interface ListPage {
  readonly rows: readonly Listed[];
  readonly total: number;
  /** The form of the document, on pages of chunks; null if the service does not report it. */
  readonly docForm: string | null;
  /** As sent by the service. Never used to read a list. */
  readonly hasMore?: unknown;
  /** When the service answered, by its own clock, in milliseconds since 1970; undefined if it does not say. */
  readonly answeredAt?: number | undefined;
}

/** Checks records without copying them or their list. */
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
  has_more: v.optional(v.unknown()),
});

/** A check of an answer by its schema. Throws RetryError, naming the URL, if something is missing. */
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
export const checkPage = checkOf(page, ({ data, total, doc_form, has_more }): ListPage => {
  return { rows: data, total, docForm: doc_form, hasMore: has_more };
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
