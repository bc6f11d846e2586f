import { RetryError, StopError } from "../../errors.js";
import { refusalOf, throttleOf } from "../check-answer.js";
import { hintFor, isUnknownUrl, keyHint, type Refusal, type SettingNames, unknownUrlHint } from "../hint-for.js";
import type { Answer } from "../send.js";
import { isUnreadable } from "./multipart.js";
import type { ReadAnswer } from "./written.js";

/**
 * The outcome of a write; `value` is what the service answered. `refused`: for good, and nothing was done. `throttled`: too often, and
 * nothing was done. `unsent`: there was no connection. `unknown`: it may have been done, and only reading tells; unless it `isOver`,
 * it may still be done later. `reason` is a sentence.
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

/** Error codes of a connection that never was. ETIMEDOUT and ECONNRESET also end connections that were there. */
const neverConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER)$/;
/** The words of undici for a proxy that made no tunnel. */
const noTunnel = /^Proxy response \(\d+\)/;

/**
 * The outcome of a write that got no whole answer; `isCutOff`: because we waited no longer. Throws StopError where the certificate
 * is not trusted, and the error of a file that cannot be read: nothing was done.
 */
export function outcomeOfError(error: unknown, isCutOff: boolean): Undone {
  if (error instanceof StopError && !isCutOff) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  const { trouble, cause } = error instanceof RetryError ? error : {};
  if (isUnreadable(cause)) throw cause;
  const isUnsent = trouble === "no proxy" || (cause instanceof Error && isBeforeRequest(cause));
  return isUnsent ? { kind: "unsent", reason } : { kind: "unknown", isOver: false, reason };
}

function isBeforeRequest(error: Error): boolean {
  return ("code" in error && neverConnected.test(String(error.code))) || noTunnel.test(error.message);
}

export interface Asked<T> {
  readonly method: string;
  readonly read: ReadAnswer<T>;
  readonly key: string;
  readonly keyPlace: string | undefined;
  readonly names: SettingNames;
}

const successes: readonly number[] = [200, 201, 204];

/** The outcome of a write that was answered. */
export function outcomeOfAnswer<T>(answer: Answer, asked: Asked<T>): WriteOutcome<T> {
  const { status, url } = answer;
  const { method, key, keyPlace, names } = asked;
  if (successes.includes(status) || (method === "DELETE" && status >= 200 && status < 300))
    return outcomeOfSuccess(answer, asked);
  const refusal = refusalOf(answer, key);
  const said = [status, refusal.code, refusal.message].filter(Boolean).join(" ");
  const hint = status === 401 ? keyHint(key, keyPlace) : writeHint(answer, refusal, key, names);
  const reason = `${method} ${url}: ${said}${hint}`;
  const isOwn = status === 500 && refusal.code !== ""; // the service itself came to its end; a proxy may only have lost it
  if (status >= 500 || status === 408 || status < 300) return { kind: "unknown", isOver: isOwn, reason };
  if (throttleOf(answer)) return { kind: "throttled", reason };
  return { kind: "refused", status, message: refusal.message, reason };
}

/** Hints that help whoever reads would mislead whoever writes, but for those on the address. */
function writeHint(answer: Answer, refusal: Refusal, key: string, names: SettingNames): string {
  if (answer.status === 403) return "; may this key write to the dataset?";
  if (answer.status < 400) return hintFor(answer, refusal, key, names);
  return answer.status === 404 && isUnknownUrl(refusal) ? unknownUrlHint(answer.url, names) : "";
}

/** A success whose body is not the service's may be anybody's. */
function outcomeOfSuccess<T>(answer: Answer, { method, read, key }: Asked<T>): WriteOutcome<T> {
  try {
    return { kind: "done", value: read(answer, key) };
  } catch {
    const reason = `${method} ${answer.url}: ${answer.status}, but the answer is not the service's`;
    return { kind: "unknown", isOver: false, reason };
  }
}
