import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { FormData } from "undici";
import { RetryError, SkipError, StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { plainText } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import { checkData, checkListed, checkRecords, jsonOf, type Listed } from "../check-answer.js";
import { isUnsent, type SettingNames } from "../failed-request.js";
import {
  hintFor,
  isUnknownUrl,
  keyHint,
  type Refusal,
  refusalOf,
  throttleOf,
  unknownUrlHint,
} from "../refused-answer.js";
import type { Answer } from "../retry.js";

/**
 * The outcome of a write. done: `value` is the service's answer. refused: permanently, nothing was done. throttled: too many
 * requests, nothing was done. unsent: there was no connection. unknown: it may have been done, and only a read can tell; unless
 * `isOver`, it may even be done later. `reason` is a sentence.
 */
export type WriteOutcome<T> = { readonly kind: "done"; readonly value: T } | Undone;

/** Every outcome but `done`. */
export type Undone =
  | {
      readonly kind: "refused";
      readonly status: number;
      /** The service's own words. */
      readonly message: string;
      readonly reason: string;
    }
  | { readonly kind: "unknown"; readonly isOver: boolean; readonly reason: string }
  | { readonly kind: "throttled" | "unsent"; readonly reason: string };

/** undici's message when a proxy opened no tunnel. */
const noTunnel = /^Proxy response \(\d+\)/;

/**
 * The outcome of a write without a complete answer; `isCutOff`: because we stopped waiting. Throws StopError for an untrusted
 * certificate, and the error of an unreadable file: in these cases, nothing was done.
 */
export function outcomeOfError(error: unknown, isCutOff: boolean): Undone {
  if (error instanceof StopError && !isCutOff) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const { trouble, cause } = error instanceof RetryError ? error : {};
  if (isUnreadable(cause)) throw cause;
  const hasNoTunnel = cause instanceof Error && noTunnel.test(cause.message);
  return trouble === "no proxy" || hasNoTunnel || isUnsent(cause)
    ? { kind: "unsent", reason }
    : { kind: "unknown", isOver: false, reason };
}

interface Asked<T> {
  readonly method: string;
  readonly read: ReadAnswer<T>;
  readonly key: string;
  readonly keySource: string | undefined;
  readonly names: SettingNames;
}

const successes: readonly number[] = [200, 201, 204];

/** The outcome of a write that was answered. */
export function outcomeOfAnswer<T>(answer: Answer, asked: Asked<T>): WriteOutcome<T> {
  const { status, url } = answer;
  const { method, key, keySource, names } = asked;
  if (successes.includes(status) || (method === "DELETE" && status >= 200 && status < 300))
    return outcomeOfSuccess(answer, asked);
  const refusal = refusalOf(answer, key);
  const said = [status, refusal.code, refusal.message].filter(Boolean).join(" ");
  const hint = status === 401 ? keyHint(key, keySource) : writeHint(answer, refusal, key, names);
  const reason = `${method} ${url}: ${said}${hint}`;
  const isOwn = status === 500 && refusal.code !== ""; // the service itself ended the request; a proxy's 500 does not prove that
  if (status >= 500 || status === 408 || status < 300) return { kind: "unknown", isOver: isOwn, reason };
  if (throttleOf(answer)) return { kind: "throttled", reason };
  return { kind: "refused", status, message: refusal.message, reason };
}

/** Only hints about the address apply to writes; other read hints would mislead. */
function writeHint(answer: Answer, refusal: Refusal, key: string, names: SettingNames): string {
  if (answer.status === 403) return "; may this key write to the dataset?";
  if (answer.status < 400) return hintFor(answer, refusal, key, names);
  return answer.status === 404 && isUnknownUrl(refusal) ? unknownUrlHint(answer.url, names) : "";
}

/** The outcome of a success status. It is unknown if the body is not the service's: something else may have answered. */
function outcomeOfSuccess<T>(answer: Answer, { method, read, key }: Asked<T>): WriteOutcome<T> {
  try {
    return { kind: "done", value: read(answer, key) };
  } catch {
    const reason = `${method} ${answer.url}: ${answer.status}, but the answer is not the service's`;
    return { kind: "unknown", isOver: false, reason };
  }
}

/** Reads the answer to a completed write. Throws if it does not come from the service. */
export type ReadAnswer<T> = (answer: Answer, key: string) => T;

/** The row that a write created or changed, from the service's answer. */
export interface WrittenRow {
  readonly id: string;
  /** The status of a chunk, such as completed or error. Null for a child chunk. */
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's explanation why it could not index the chunk; empty if none. */
  readonly error: string;
}

/** The service's answer to a create request. */
export interface Created {
  readonly id: string;
}

export interface CreatedDataset extends Created {
  readonly name: string;
}

export interface CreatedDocument extends Created {
  /** The batch to query for the indexing status. */
  readonly batch: string;
}

/** Reads the single row of an answer. An added chunk comes in a list, everything else alone. */
export const readRow: ReadAnswer<WrittenRow> = (answer, key) => {
  const body = jsonOf(answer, key);
  const isList = isMapping(body) && Array.isArray(body.data);
  return writtenRow(isList ? single(checkRecords(body, answer.url), answer.url) : checkData(body, answer.url), key);
};

/** Reads `count` rows, in the order sent. Throws RetryError for any other number. */
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

/** Accepts a 204, or any JSON object such as `{"result": "success"}`. */
export const readNothing: ReadAnswer<null> = (answer, key) => {
  if (answer.status === 204 || isMapping(jsonOf(answer, key))) return null;
  throw new RetryError(`${answer.url}: the answer is not a JSON object`);
};

/** Accepts any success of a DELETE: release 1.12.1 answers 200 with the body `204`, later ones 204 without a body. Rejects web pages. */
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

/** A file on disk to send. */
export interface LocalFile {
  readonly path: string;
  /** Its name in the service. */
  readonly name: string;
  /** Null: the service guesses it from the name. */
  readonly mime_type: string | null;
}

/**
 * Sends a file as the part `file` of a form. Streams the file, so that it is never in memory as a whole. Throws SkipError if the
 * file cannot be read or changes meanwhile. Then nothing was done, because the form is incomplete.
 */
export async function sendFile<T>(file: LocalFile, send: (form: FormData) => Promise<T>): Promise<T> {
  const blob = await openFile(file);
  const form = new FormData();
  form.append("file", blob, file.name);
  try {
    return await send(form);
  } catch (error) {
    throw isUnreadable(error) ? unreadable(file, "it changed while it was sent", error) : error;
  }
}

/** Whether an error comes from reading the file while it was sent. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "NotReadableError";
}

async function openFile(file: LocalFile): Promise<Blob> {
  const type = file.mime_type === null ? {} : { type: file.mime_type };
  try {
    if (!(await stat(file.path)).isFile()) throw new Error("it is not a file");
    return await openAsBlob(file.path, type);
  } catch (error) {
    throw unreadable(file, problemText(error), error);
  }
}

function unreadable({ path }: LocalFile, reason: string, cause: unknown): SkipError {
  return new SkipError(`${path}: the file cannot be read, and was not sent: ${reason}`, { cause });
}
