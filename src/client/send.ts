import { setTimeout as delay } from "node:timers/promises";
import { GaveUpError, RetryError } from "../errors.js";

/** One GET request below the base URL. */
export interface Request {
  /** Begins with a slash; every segment percent-encoded. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** An answer whose body is in: decompressed, no longer than the bound. */
export interface Answer {
  readonly url: string;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * The one port to the network. Resolves when the whole body is in, whatever the status; rejects with RetryError or
 * StopError when no answer came. Limit, pace and the like are wrappers of this type.
 */
export type Send = (request: Request) => Promise<Answer>;

/** `/datasets/x/documents` with its query, as it stands behind the base URL. */
export function targetOf(request: Request): string {
  const query = request.query.map((pair) => pair.map(percentEncoded).join("=")).join("&");
  return query ? `${request.path}?${query}` : request.path;
}

/** Encodes a part of a URL; a lone surrogate, which encodeURIComponent refuses, becomes U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** A path whose variables are percent-encoded, so that none can add a segment. */
export function pathOf(literals: TemplateStringsArray, ...variables: readonly string[]): string {
  return String.raw({ raw: literals }, ...variables.map(segment));
}

/** The encoding leaves "." and ".." as they are, which a URL resolves away. */
function segment(text: string): string {
  return percentEncoded(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));
}

export interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number;
  /** Ends a wait at once. */
  readonly signal: AbortSignal;
  readonly onRetry: (error: RetryError, wait: number) => void;
  /** Gets every error. Where the service is away, it waits until it is back and gives true: the try does not count. */
  readonly waitForService?: (error: unknown) => Promise<boolean>;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to 1. */
  readonly random?: () => number;
}

/** The longest wait of our own choice, and the longest that the service may ask for, in milliseconds. */
const longestWait = 30_000;
/** The bound of the first wait; of a refusal, too, which the pace of the run waits for: its own turn comes soon. */
const firstWait = 500;
const firstRefusedWait = 10;
export const longestRetryAfter = 600_000;

/**
 * Runs `read` until it succeeds, at most `retries` times again after a RetryError; not again where the body was too large,
 * as it will be so the next time. Rejects with GaveUpError after the last try; every other error passes through at once.
 */
export async function retrying<T>(read: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { sleep = (ms, signal) => delay(ms, undefined, { signal }), random = Math.random } = options;
  for (let tries = 1; ; ) {
    try {
      return await read();
    } catch (error) {
      if (await options.waitForService?.(error)) {
        options.signal.throwIfAborted();
        continue;
      }
      if (!(error instanceof RetryError)) throw error;
      if (tries > options.retries || error.trouble === "too large") throw new GaveUpError(error, tries);
      const wait = retryDelay(tries, error.retryAfter, random(), error.throttled ? firstRefusedWait : firstWait);
      options.onRetry(error, wait);
      await sleep(wait, options.signal).catch((reason: unknown) => {
        options.signal.throwIfAborted();
        throw reason;
      });
      tries++;
    }
  }
}

/** Milliseconds before try `tries + 1`: what the service asks for, else exponential with full jitter, `first` to 30 s. */
export function retryDelay(tries: number, retryAfter: number | undefined, random: number, first = firstWait): number {
  const jittered = random * Math.min(longestWait, first * 2 ** (tries - 1));
  if (retryAfter === undefined) return jittered;
  return Math.min(longestRetryAfter, retryAfter) + random * 250;
}

/** Why a request is sent again, in a word to count by: the status, or what was wrong where none was. */
export function retryReason({ status, cause }: RetryError): string {
  if (status !== undefined && status !== 200) return String(status);
  if (status === 200 || !(cause instanceof Error)) return "broken answer";
  return "code" in cause && /TIMEOUT/.test(String(cause.code)) ? "timeout" : "connection";
}
