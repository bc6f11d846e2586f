import { RetryError, StopError } from "../../errors.js";
import { isMapping } from "../../schema.js";
import { checkAnswer, refusalOf, throttleOf } from "../check-answer.js";
import { checkData, checkRecords, type Listed } from "../check-list.js";
import { hintFor, isUnknownUrl, keyHint, type Refusal } from "../hint-for.js";
import { plainText } from "../plain-text.js";
import type { Answer } from "../send.js";

/** The row that a write made or changed, as the service answered it. */
export interface WrittenRow {
  readonly id: string;
  /** The status of a chunk: completed, error and others. Null for a child chunk. */
  readonly status: string | null;
  readonly enabled: boolean;
  /** The service's own words on why it could not index the chunk; empty where it says none. */
  readonly error: string;
}

/**
 * The outcome of a write. `refused`: for good, and nothing was done. `throttled`: too often, and nothing was done. `unsent`: there
 * was no connection. `unknown`: it may have been done, and only reading the document tells; unless it `isOver`, it may still be
 * done later. `reason` is a sentence.
 */
export type WriteOutcome =
  | { readonly kind: "done"; readonly row: WrittenRow }
  | {
      readonly kind: "refused";
      readonly status: number;
      /** The service's own words. */
      readonly message: string;
      readonly reason: string;
    }
  | { readonly kind: "unknown"; readonly isOver: boolean; readonly reason: string }
  | { readonly kind: "throttled" | "unsent"; readonly reason: string };

/** Error codes of a connection that never was. ETIMEDOUT and ECONNRESET also end connections that were there. */
const neverConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER)$/;
/** The words of undici for a proxy that made no tunnel. */
const noTunnel = /^Proxy response \(\d+\)/;

/**
 * The outcome of a write that got no whole answer; `isCutOff`: because we waited no longer. Throws StopError where the certificate
 * is not trusted: nothing was sent.
 */
export function outcomeOfError(error: unknown, isCutOff: boolean): WriteOutcome {
  if (error instanceof StopError && !isCutOff) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const { trouble, cause } = error instanceof RetryError ? error : {};
  const isUnsent = trouble === "no proxy" || (cause instanceof Error && isBeforeRequest(cause));
  return isUnsent ? { kind: "unsent", reason } : { kind: "unknown", isOver: false, reason };
}

function isBeforeRequest(error: Error): boolean {
  return ("code" in error && neverConnected.test(String(error.code))) || noTunnel.test(error.message);
}

/** The outcome of a write that was answered. */
export function outcomeOfAnswer(
  answer: Answer,
  method: string,
  key: string,
  keyPlace: string | undefined,
): WriteOutcome {
  const { status, url } = answer;
  if (status === 200) return outcomeOfSuccess(answer, method, key);
  const refusal = refusalOf(answer, key);
  const said = [status, refusal.code, refusal.message].filter(Boolean).join(" ");
  const hint = status === 401 ? keyHint(key, keyPlace) : writeHint(answer, refusal, key);
  const reason = `${method} ${url}: ${said}${hint}`;
  const isOwn = status === 500 && refusal.code !== ""; // the service itself came to its end; a proxy may only have lost it
  if (status >= 500 || status === 408 || status < 300) return { kind: "unknown", isOver: isOwn, reason };
  if (throttleOf(answer)) return { kind: "throttled", reason };
  return { kind: "refused", status, message: refusal.message, reason };
}

/** Hints that help whoever reads would mislead whoever writes, but for those on the address. */
function writeHint(answer: Answer, refusal: Refusal, key: string): string {
  if (answer.status === 403) return "; may this key write to the dataset?";
  const isAddress = answer.status < 400 || (answer.status === 404 && isUnknownUrl(refusal));
  return isAddress ? hintFor(answer, refusal, key) : "";
}

/** A 200 whose body is not the service's may be anybody's. */
function outcomeOfSuccess(answer: Answer, method: string, key: string): WriteOutcome {
  try {
    return { kind: "done", row: writtenRow(recordIn(checkAnswer(answer, key), answer.url), key) };
  } catch {
    return {
      kind: "unknown",
      isOver: false,
      reason: `${method} ${answer.url}: 200, but the answer is not the service's`,
    };
  }
}

/** An added chunk comes in a list, everything else alone. */
function recordIn(body: unknown, url: string): Listed {
  if (!isMapping(body) || !Array.isArray(body.data)) return checkData(body, url);
  const [record, ...others] = checkRecords(body, url);
  if (!record || others.length > 0) throw new RetryError(`${url}: one chunk was added, and the answer has not one`);
  return record;
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
