import { setTimeout as delay } from "node:timers/promises";
import { GaveUpError, RetryError } from "../errors.js";

export interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number;
  /** Ends a wait at once. */
  readonly signal: AbortSignal;
  readonly onRetry: (error: RetryError, wait: number) => void;
  /** Shown every error: true, perhaps after a long wait, when to read again without counting the try. */
  readonly hold?: (error: unknown) => Promise<boolean>;
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
      if (await options.hold?.(error)) {
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
