import { GaveUpError, RetryError, StopError } from "../errors.js";
import { isPluginGone, ownError } from "./check-answer.js";
import type { SettingNames } from "./hint-for.js";
import type { RequestTally } from "./request-tally.js";
import type { Answer, Request } from "./send.js";

/** The one that is not there: the service, or the daemon that it needs for the lists of some datasets. */
export interface Absence {
  readonly who: "service" | "plugin daemon";
  /** The service is surely absent; otherwise one page may be the cause. */
  readonly isSure: boolean;
}

/** Milliseconds after which a proxy has not just found nobody, but waited for an answer in vain. */
const atOnce = 5_000;
const reset = /^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;

/** Whether a request that got no answer met nobody. */
export function absenceOfError(error: unknown): Absence | undefined {
  if (!(error instanceof RetryError) || (error.trouble !== "gone" && error.trouble !== "no proxy")) return undefined;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return { who: "service", isSure: !reset.test(code) };
}

/** Whether an answer that took so many milliseconds is a proxy's, or the service's own, that somebody is not there. */
export function absenceOfAnswer(answer: Answer, milliseconds: number): Absence | undefined {
  const { status, headers } = answer;
  if (isPluginGone(answer)) return { who: "plugin daemon", isSure: true };
  const isProxy = [502, 503, 504].includes(status) && headers["retry-after"] === undefined && milliseconds < atOnce;
  return isProxy && typeof ownError(answer).code !== "string" ? { who: "service", isSure: false } : undefined;
}

/** The rows that are asked for, to tell two places of lists apart: a page and its halves are one. */
export function placeOf({ path, query }: Request): string {
  const numberOf = (name: string) => Number(query.find(([key]) => key === name)?.[1] ?? 0);
  return `${path} ${Math.floor(((numberOf("page") - 1) * numberOf("limit")) / 100)}`;
}

/** The lists of one kind of one dataset: those that need the daemon, or do not, alike. */
export function kindOfList({ path }: Request): string {
  const [, , dataset = "", ...rest] = path.split("/");
  return `${dataset} ${rest.at(-1) ?? ""}`;
}

/** The end of a run whose service never answered: the address may be wrong. */
export function unreachable(error: Error, { baseUrl }: SettingNames): StopError {
  const trouble = error instanceof GaveUpError ? error.last.trouble : error instanceof RetryError && error.trouble;
  const hint = trouble === "no proxy" ? "" : `; check ${baseUrl}`; // it is the proxy that cannot be reached
  return new StopError(`the service cannot be reached: ${error.message}${hint}`, { cause: error });
}

/** A service that never answered anything before it was given up: to try the rest would take hours. */
export function neverAnswered(error: unknown, tally: RequestTally, names: SettingNames): StopError | undefined {
  if (!(error instanceof GaveUpError) || error.status !== undefined || tally.answered > 0) return undefined;
  return unreachable(error, names);
}
