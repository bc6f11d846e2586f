import { setTimeout } from "node:timers/promises";
import { GaveUpError, RetryError } from "../errors.js";
import { codeOf } from "./failed-request.js";

/** One GET request, relative to the base URL. */
export interface Request {
  /** The path. It starts with a slash, and every segment is percent-encoded. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** An answer with its complete body, decompressed and within the size limit. */
export interface Answer {
  readonly url: string;
  readonly status: number;
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends one request. Resolves with any status once the whole body is in. Rejects with RetryError or StopError if there is no
 * complete answer. The concurrency limit and the pace wrap functions of this type.
 */
export type Send = (request: Request) => Promise<Answer>;

/** The path and query of a request, relative to the base URL. */
export function targetOf(request: Request): string {
  const query = request.query.map((pair) => pair.map(percentEncoded).join("=")).join("&");
  return query ? `${request.path}?${query}` : request.path;
}

/** Encodes a part of a URL. A lone surrogate, which makes encodeURIComponent throw, becomes U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** A path with percent-encoded variables, so that none of them can add a segment. */
export function pathOf(literals: TemplateStringsArray, ...variables: readonly string[]): string {
  return String.raw({ raw: literals }, ...variables.map(segment));
}

/** Escapes "." and "..", which percent-encoding leaves alone and URLs resolve. */
function segment(text: string): string {
  return percentEncoded(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));
}

export interface RetryOptions {
  /** Retries after the first try. */
  readonly retries: number;
  /** Aborting it ends a wait at once. */
  readonly signal: AbortSignal;
  /** Called before every retry. `isScattered`: after a refusal that may be random, so the try does not count. */
  readonly onRetry: (error: RetryError, wait: number, isScattered: boolean) => void;
  /** Called with every error. If the service is down, waits until it is back and returns true; the try then does not count. */
  readonly waitForService?: (error: unknown) => Promise<boolean>;
  /** Whether all requests pause because of a limit. Then a refusal comes from that limit, and counts as a try. */
  readonly isPaused?: () => boolean;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to, but not including, 1. */
  readonly random?: () => number;
}

/** The longest wait between two tries, in milliseconds, unless the service asks for a longer one. */
const longestWait = 30_000;
/**
 * The longest first wait, in milliseconds: after a failure, and after a refusal. The second is short, because refused requests
 * also wait for the pace.
 */
const firstWait = 500;
const firstRefusedWait = 2;
export const longestRetryAfter = 600_000;
/**
 * Up to this many refusals without Retry-After do not count as tries, because some services refuse at random. The next one does, and
 * the count starts again from 0.
 */
const mostScattered = 3;

/**
 * Runs `read` until it succeeds, with at most `retries` retries after a RetryError. Does not retry a body that was too large,
 * because it would be too large again. Throws GaveUpError after the last try; other errors pass through at once.
 */
export async function retrying<T>(read: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { sleep = pause, random = Math.random } = options;
  for (let tries = 1, scattered = 0; ; ) {
    try {
      return await read();
    } catch (error) {
      if (await options.waitForService?.(error)) {
        options.signal.throwIfAborted();
        continue;
      }
      if (!(error instanceof RetryError)) throw error;
      const isChance = error.throttled && error.retryAfter === undefined && !options.isPaused?.();
      const isScattered = isChance && scattered < mostScattered;
      if (!isScattered && (tries > options.retries || error.trouble === "too large"))
        throw new GaveUpError(error, tries);
      const [count, first] = error.throttled ? [tries + scattered, firstRefusedWait] : [tries, firstWait];
      const wait = retryDelay(count, error.retryAfter, random(), first);
      options.onRetry(error, wait, isScattered);
      await sleep(wait, options.signal).catch((reason: unknown) => {
        options.signal.throwIfAborted();
        throw reason;
      });
      if (isScattered) scattered++;
      else [tries, scattered] = [tries + 1, 0];
    }
  }
}

/** Waits for some milliseconds; rejects once the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return setTimeout(milliseconds, undefined, { signal });
}

/** Milliseconds before try `tries + 1`: as long as the service asks for, otherwise exponential with full jitter, from `first` to 30 s. */
export function retryDelay(tries: number, retryAfter: number | undefined, random: number, first = firstWait): number {
  const jittered = random * Math.min(longestWait, first * 2 ** (tries - 1));
  if (retryAfter === undefined) return jittered;
  return Math.min(longestRetryAfter, retryAfter) + random * 250;
}

/** Why a request is retried, as a key for counting: the status, or the kind of failure. */
export function retryReason({ status, cause }: RetryError): string {
  if (status !== undefined && status !== 200) return String(status);
  if (status === 200 || !(cause instanceof Error)) return "broken answer";
  return codeOf(cause).includes("TIMEOUT") ? "timeout" : "connection";
}
