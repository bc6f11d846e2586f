/**
 * The kinds of error, sorted by what to do next, and the exit code of each. Only main.ts turns one into a process exit.
 * Messages say what failed, where, and what to do; they are safe to print: no key, no control characters.
 */

export const exitCodes = {
  complete: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  differences: 4,
  busy: 5,
} as const;

/** One thing wrong with a job file or a command line. `path` is dotted: `datasets[0].documents[2]`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Wrong usage or a wrong job file: every problem at once. Exit 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problems: readonly Problem[];

  /** `listed`: the problems that the message lists; those that `what` tells already are left out. */
  constructor(what: string, problems: readonly Problem[], listed = problems) {
    super([what, ...listed.map(({ path, message }) => (path ? `  ${path}: ${message}` : `  ${message}`))].join("\n"));
    this.problems = problems.length > 0 ? problems : [{ path: "", message: what }];
  }
}

/** Facts of a failed request beyond its message. */
interface Failure {
  readonly cause?: unknown;
  /** HTTP status of the answer; absent when none came. */
  readonly status?: number;
  /** The service's own code for the error, such as `not_found`; absent when the body was not its JSON. */
  readonly code?: string;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfter?: number;
  /** The service refused because too much was asked of it. */
  readonly throttled?: boolean;
  /**
   * gone: the service is away. no proxy: not even the proxy was. no service: what answers speaks another protocol, or is
   * a proxy that refuses. too large: the body was above the bound.
   */
  readonly trouble?: "gone" | "no proxy" | "no service" | "too large";
}

/** Characters without a blank or a slash in between that a message shows; ids and parts of URLs are shorter, or hostile. */
const longestWord = 320;
const shown = 80;

/** The text with every overlong id or part of a URL cut. */
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

/** The run cannot go on: a wrong key, a service that cannot be reached, a disk that is full. Exit 1. */
export class StopError extends RequestError {
  override readonly name = "StopError";
}

/** The run is published, but its result could not be written to stdout. Exit 3. */
export class UnprintedError extends StopError {}

/** Another run took this job over while ours was at work, or its folder was removed: nothing more can be published. Exit 1. */
export class LostError extends StopError {}

/** This request may succeed when it is sent again. After the last try it is a GaveUpError. */
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

/** This document, batch or list cannot be read; the others go on. */
export class SkipError extends RequestError {
  override readonly name: string = "SkipError";
}

/** The service has no such route, though another release of it may. */
export class UnknownRouteError extends SkipError {
  override readonly name = "UnknownRouteError";
}

/** A request failed at every try. Callers handle it as a SkipError, or ask for a smaller page. */
export class GaveUpError extends SkipError {
  override readonly name = "GaveUpError";
  /** The error of the last try. */
  readonly last: RetryError;

  constructor(last: RetryError, tries: number) {
    super(`${last.message} (${tries} ${tries === 1 ? "try" : "tries"})`, {
      cause: last,
      ...(last.status === undefined ? {} : { status: last.status }),
      ...(last.code === undefined ? {} : { code: last.code }),
    });
    this.last = last;
  }
}

/** Another run of this job is at work. Exit 5. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

/** A signal asked to stop; what was read stays in the work folder. Exit 128 + the signal's number. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM", message = `interrupted by ${signal}`) {
    super(message);
    this.exitCode = signal === "SIGINT" ? 130 : 143;
  }
}

/** The error of the work, where the end of its scope failed as well: that is a SuppressedError, which hides it. */
export function workError(error: unknown): unknown {
  const isHidden = error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
  return isHidden ? workError(error.suppressed) : error;
}
