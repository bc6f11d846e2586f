import { RetryError, SkipError, StopError } from "../errors.js";
import { parseJson } from "../rows/exact-json.js";
import { plainText } from "./plain-text.js";
import type { Answer } from "./send.js";

const transient = new Set([408, 425, 429]);
const planLimit = /reached the knowledge base request rate limit/i;

/** The JSON of a 200 answer. Throws what every other answer means: see `errorFromAnswer`; RetryError for a broken body. */
export function checkAnswer(answer: Answer, key: string): unknown {
  if (answer.status !== 200) throw errorFromAnswer(answer, key);
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
  } catch {
    // no cause: a SyntaxError quotes the body, in which the key can stand
    const start = plainText(textOf(answer), key, 60) || "(empty)";
    throw new RetryError(`GET ${answer.url}: the body is no JSON: ${start}`, { status: 200 });
  }
}

/** Sorts an answer by what to do next: retry what may pass, stop at a wrong key, skip the rest; with a hint where one helps. */
export function errorFromAnswer(answer: Answer, key: string): RetryError | SkipError | StopError {
  const { status, url } = answer;
  const { code, message } = refusalOf(answer, key);
  const said = [status, code, message].filter(Boolean).join(" ");
  const failure = { status, ...(code ? { code } : {}) };
  if (isPluginGone(answer)) return new RetryError(`GET ${url}: ${said}`, { ...failure, trouble: "gone" });
  const limited = status === 403 && planLimit.test(message);
  if (transient.has(status) || status >= 500 || limited) {
    const after = retryAfter(answer.headers["retry-after"]);
    const throttled = status === 429 || limited || (status === 503 && after !== undefined);
    return new RetryError(`GET ${url}: ${said}`, {
      ...failure,
      throttled,
      ...(after === undefined ? {} : { retryAfter: after }),
    });
  }
  if (status === 401) return new StopError(`GET ${url}: ${said}; the service does not take this key`, failure);
  return new SkipError(`GET ${url}: ${said}${hintFor(answer, { code, message }, key)}`, failure);
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Whether the service refused because too much was asked of it, and how many milliseconds it asks to wait. */
export function throttleOf(answer: Answer): { readonly retryAfter: number | undefined } | undefined {
  if (answer.status === 200) return undefined;
  const error = errorFromAnswer(answer, "");
  return error instanceof RetryError && error.throttled ? { retryAfter: error.retryAfter } : undefined;
}

function hintFor({ status, url, headers }: Answer, { code, message }: Refusal, key: string): string {
  if (status === 400 && lacksModel(code, message))
    return "; configure the embedding model of this dataset in the service";
  if (status === 304) return "; not modified: a cache answers in place of the service, and nothing was asked of one";
  if (status >= 300 && status < 400) return redirectHint(headers.location, url, key);
  if (status === 404 && !code && /\/child_chunks\?/.test(url)) {
    return "; an older service has no child lists: set child_chunks: none";
  }
  if (status === 404 && !code) {
    const hint = new URL(url).pathname.startsWith("/v1/") ? "" : ", which usually ends in /v1";
    return `; the service does not know this URL: check service.base_url${hint}`;
  }
  if (status === 403 && /\/datasets\?/.test(url)) {
    return "; a key of one dataset may not list them: name the datasets by id in the job file";
  }
  if (status === 403) return "; is API access on for this dataset, and may the key read it?";
  return "";
}

/** Whether a 400 says that the embedding model of the dataset is missing: then all lists of the dataset are refused. */
export function lacksModel(code: string | undefined, message: string): boolean {
  return code === "provider_not_initialize" || /\bProvider .* does not exist/.test(message);
}

/** If a redirect leads to the same list elsewhere, gives the part of its URL before the list: the base URL to use. */
function redirectHint(location: string | string[] | undefined, url: string, key: string): string {
  if (typeof location !== "string") return "; it redirects, which is not followed";
  const hint = `; it redirects to ${plainText(location, key, 200)}, which is not followed`;
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const base = target && /^(.*?)\/datasets[/?]/.exec(target.href)?.[1];
  if (!base || (url.startsWith("https:") && target.protocol !== "https:")) return hint;
  return `${hint}; service.base_url should probably be ${plainText(base, key, 200)}`;
}

/** The code and message of the service's own error; else the title, or the start, of whatever came. */
function refusalOf(answer: Answer, key: string): Refusal {
  const text = textOf(answer);
  const { code, message } = ownError(answer);
  const [name, words] = [typeof code === "string" ? code : "", wordsOf(message)];
  if (name || words) return { code: plainText(name, key, 60), message: plainText(words, key) };
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1] ?? text;
  return { code: "", message: plainText(title, key, 100).replace(new RegExp(`^${answer.status}\\b *`), "") };
}

/** The service says with a 400 that a daemon of its own is not there, though it is no fault of the request. */
export function isPluginGone(answer: Answer): boolean {
  if (answer.status !== 400) return false;
  const { code, message } = ownError(answer);
  return code === "invalid_param" && typeof message === "string" && /^Failed to request plugin daemon\b/.test(message);
}

/** The service's own words on an error; nothing where a proxy answered in its place. */
export function ownError(answer: Answer): { readonly code?: unknown; readonly message?: unknown } {
  try {
    const value: unknown = JSON.parse(textOf(answer));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Some services send an object of messages, one per wrong parameter. */
function wordsOf(message: unknown): string {
  if (typeof message === "string") return message;
  return message === undefined || message === null ? "" : JSON.stringify(message);
}

/** As much of the body as a message can need. */
function textOf({ body }: Answer): string {
  return Buffer.from(body.subarray(0, 100_000)).toString();
}

/** Milliseconds that a Retry-After header asks for, in seconds or as a date; undefined when it says nothing usable. */
export function retryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN; // Date.parse makes a date of "-5", too
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
