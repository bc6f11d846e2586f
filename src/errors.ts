/**
 * The kinds of error, one for each way to continue, with their exit codes. Only main.ts exits the process. Messages say what
 * failed, where, and what to do. They are safe to print: no key, no control characters.
 */

export const exitCodes = {
  complete: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  differences: 4,
  busy: 5,
} as const;

/** One problem with a job file or command line. `path` is dotted: `datasets[0].documents[2]`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** A wrong command line or job file, with all problems. Exit 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problems: readonly Problem[];

  /** `listed`: the problems to list in the message, without those that `what` already mentions. */
  constructor(what: string, problems: readonly Problem[], listed = problems) {
    super([what, ...listed.map(({ path, message }) => (path ? `  ${path}: ${message}` : `  ${message}`))].join("\n"));
    this.problems = problems.length > 0 ? problems : [{ path: "", message: what }];
  }
}

/** Facts about a failed request besides its message. */
interface Failure {
  readonly cause?: unknown;
  /** HTTP status of the answer; absent without an answer. */
  readonly status?: number | undefined;
  /** The service's own error code, such as `not_found`; absent if the body is not the service's JSON. */
  readonly code?: string | undefined;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfter?: number | undefined;
  /** Whether the service refused the request because there were too many. */
  readonly throttled?: boolean;
  /**
   * Why there is no usable answer. gone: the service is down. no proxy: not even the proxy could be reached. no service: the server
   * speaks another protocol, or is a proxy that refuses. too large: the body exceeded the limit.
   */
  readonly trouble?: "gone" | "no proxy" | "no service" | "too large" | undefined;
}

/** Maximum characters between spaces or slashes in a message. Ids and URL parts are shorter, unless they are hostile. */
const longestWord = 320;
const shown = 80;

/** Truncates overlong ids and URL parts in a text. */
export function shortened(text: string): string {
  return text.replace(/[^\s/?&]+/g, (word) =>
    word.length > longestWord ? `${word.slice(0, shown).toWellFormed()}…` : word,
  );
}

class RequestError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor(message: string, failure: Failure = {}) {
    super(shortened(message), "cause" in failure ? { cause: failure.cause } : undefined);
    this.status = failure.status;
    this.code = failure.code;
  }
}

/** The run cannot continue: a wrong key, an unreachable service, a full disk. Exit 1. */
export class StopError extends RequestError {
  override readonly name = "StopError";
}

/** The run is published, but its result could not be written to stdout. Exit 3. */
export class UnprintedError extends StopError {}

/** Another run took over this job, or its folder was removed. Nothing more can be published. Exit 1. */
export class LostError extends StopError {}

/** The request may succeed if sent again. After the last try it becomes a GaveUpError. */
export class RetryError extends RequestError {
  override readonly name = "RetryError";
  readonly retryAfter: number | undefined;
  readonly throttled: boolean;
  readonly trouble: Failure["trouble"];

  constructor(message: string, failure: Failure = {}) {
    super(message, failure);
    this.trouble = failure.trouble;
    this.retryAfter = failure.retryAfter;
    this.throttled = failure.throttled ?? false;
  }
}

/** This document, batch or list cannot be read; others continue. */
export class SkipError extends RequestError {
  override readonly name: string = "SkipError";
}

/** A handler for `catch`: turns a SkipError into a value, and throws every other error again. */
export function ifSkipped<T>(handle: (error: SkipError) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof SkipError) return handle(error);
    throw error;
  };
}

/** The service has no such route, but another release may. */
export class UnknownRouteError extends SkipError {
  override readonly name = "UnknownRouteError";
}

/** Every try of a request failed. Callers handle it as a SkipError, or ask for a smaller page. */
export class GaveUpError extends SkipError {
  override readonly name = "GaveUpError";
  /** The error of the last try. */
  readonly last: RetryError;

  constructor(last: RetryError, tries: number) {
    const { message, status, code } = last;
    super(`${message} (${tries} ${tries === 1 ? "try" : "tries"})`, { cause: last, status, code });
    this.last = last;
  }
}

/** Another run of this job is active. Exit 5. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

/** A signal stopped the run. The documents read so far stay in the work folder. Exit 128 + signal number. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM", message = `interrupted by ${signal}`) {
    super(message);
    this.exitCode = signal === "SIGINT" ? 130 : 143;
  }

  /** The same interruption, with more sentences. */
  with(...more: readonly string[]): InterruptedError {
    return new InterruptedError(this.exitCode === 130 ? "SIGINT" : "SIGTERM", [this.message, ...more].join("; "));
  }
}

/** The original error, which a SuppressedError hides if ending the scope failed too. */
export function workError(error: unknown): unknown {
  const isHidden = error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
  return isHidden ? workError(error.suppressed) : error;
}
