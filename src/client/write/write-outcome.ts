import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import type { FormData } from "undici";
import { RetryError, SkipError, StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { jsonOf } from "../check-answer.js";
import { undici } from "../connections.js";
import { isUnsent, type MessageFacts } from "../failed-request.js";
import {
  hintFor,
  isUnknownUrl,
  keyRefusal,
  type Refusal,
  refusalOf,
  throttleOf,
  unknownUrlHint,
} from "../refused-answer.js";
import type { Answer } from "../retry.js";

/**
 * The outcome of a write. done: `value` is the service's answer. refused: permanently, nothing was done. throttled: too many
 * requests, nothing was done. unsent: it did not reach the service. unknown: it may have been done, and only a read can tell; unless
 * `isOver`, it may even be done later. `reason` is a sentence.
 */
export type WriteOutcome<T> = { readonly kind: "done"; readonly value: T } | Undone;

/** Every outcome but `done`. */
export type Undone =
  | {
      readonly kind: "refused";
      readonly status: number;
      /** The message that the service sent. */
      readonly message: string;
      readonly reason: string;
    }
  | { readonly kind: "unknown"; readonly isOver: boolean; readonly reason: string }
  | { readonly kind: "throttled" | "unsent"; readonly reason: string };

/**
 * The outcome of a write without a complete answer. `isCutOff`: this process stopped waiting for it. Throws StopError for an
 * untrusted certificate, and the error of an unreadable file: in these cases, nothing was done.
 */
export function outcomeOfError(error: unknown, isCutOff: boolean): Undone {
  if (error instanceof StopError && !isCutOff) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const { trouble, cause } = error instanceof RetryError ? error : {};
  if (isUnreadable(cause)) throw cause;
  return trouble === "no proxy" || isUnsent(cause)
    ? { kind: "unsent", reason }
    : { kind: "unknown", isOver: false, reason };
}

interface Asked<T> extends MessageFacts {
  readonly method: string;
  readonly read: ReadAnswer<T>;
}

const successes: readonly number[] = [200, 201, 204];

/** The outcome of a write that was answered. */
export function outcomeOfAnswer<T>(answer: Answer, asked: Asked<T>): WriteOutcome<T> {
  const { status, url } = answer;
  if (successes.includes(status) || (asked.method === "DELETE" && status >= 200 && status < 300))
    return outcomeOfSuccess(answer, asked);
  const refusal = refusalOf(answer, asked.key);
  const said = [status, refusal.code, refusal.message].filter(Boolean).join(" ");
  const hint = writeHint(answer, refusal, asked);
  const sentence = status === 401 ? keyRefusal(said, asked) : `${hint === "" ? said : said.replace(/\.$/, "")}${hint}`;
  const reason = `${asked.method} ${url}: ${sentence}`;
  const isOwn = status === 500 && refusal.code !== ""; // the service itself ended the request; a proxy's 500 does not prove that
  if (status >= 500 || status === 408 || status < 300) return { kind: "unknown", isOver: isOwn, reason };
  if (throttleOf(answer)) return { kind: "throttled", reason };
  // For example a gateway that restarts: it does not say that the record to delete is gone.
  if (asked.method === "DELETE" && status === 404 && isUnknownUrl(refusal)) return { kind: "unsent", reason };
  return { kind: "refused", status, message: refusal.message, reason };
}

/**
 * The end of the message for a failed write. Of the hints for reads, only those about the address apply; the others would
 * mislead.
 */
function writeHint(answer: Answer, refusal: Refusal, facts: MessageFacts): string {
  if (answer.status === 403) return "; may this key write to the dataset?";
  if (answer.status < 400) return hintFor(answer, refusal, facts);
  return answer.status === 404 && isUnknownUrl(refusal) ? unknownUrlHint(answer.url, facts) : "";
}

/**
 * The outcome of a write that was answered with a success status. It is unknown if the body is not the service's: something
 * else may have answered.
 */
function outcomeOfSuccess<T>(answer: Answer, { method, read, key }: Asked<T>): WriteOutcome<T> {
  const { status, url, body } = answer;
  try {
    const json = body.length > 0 ? jsonOf(answer, key) : undefined;
    const value = read(status === 204 ? {} : json, key);
    if (value !== undefined) return { kind: "done", value };
  } catch {} // not JSON
  return { kind: "unknown", isOver: false, reason: `${method} ${url}: ${status}, but the answer is not the service's` };
}

/**
 * Reads the answer to a completed write: parsed JSON, or undefined without a body. A 204 counts as an empty object. Returns
 * undefined if the body does not come from the service.
 */
export type ReadAnswer<T> = (body: unknown, key: string) => T | undefined;

/** A file on disk to send. */
export interface LocalFile {
  readonly path: string;
  /** The name that the file gets in the service. */
  readonly name: string;
  /** The MIME type of the file; null: the service guesses it from the name. */
  readonly mime_type: string | null;
}

/**
 * Sends a file as the part `file` of a form. Streams the file, so that it is never in memory as a whole. Throws SkipError if the
 * file cannot be read or changes meanwhile. Then nothing was done, because the form is incomplete.
 */
export async function sendFile<T>(file: LocalFile, send: (form: FormData) => Promise<T>): Promise<T> {
  const blob = await openFile(file);
  const form = new undici.FormData();
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
