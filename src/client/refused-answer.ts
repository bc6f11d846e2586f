import { RetryError, SkipError, StopError, UnknownRouteError } from "../errors.js";
import { plainText } from "../safe-text.js";
import { jobFileNames, type MessageFacts } from "./failed-request.js";
import type { Answer } from "./retry.js";

const planLimit = /reached the knowledge base request rate limit/i;

/**
 * Turns an answer into the error that says what to do next: retry what may succeed later, stop if the key is wrong, skip everything
 * else. Adds a hint if there is one. A 404 for a route that the service lacks becomes an UnknownRouteError.
 */
export function errorFromAnswer(answer: Answer, facts: MessageFacts): RetryError | SkipError | StopError {
  const { status, url } = answer;
  const { code, message } = refusalOf(answer, facts.key);
  const said = [status, code, message].filter(Boolean).join(" ");
  const failure = { status, code: code || undefined };
  const hinted = (hint: string) => `GET ${url}: ${hint === "" ? said : said.replace(/\.$/, "")}${hint}`;
  if (isPluginGone(answer)) return new RetryError(`GET ${url}: ${said}`, { ...failure, trouble: "gone" });
  const limited = status === 403 && planLimit.test(message);
  if (isTransient(status) || limited) {
    const after = retryAfter(answer.headers["retry-after"]);
    const throttled = status === 429 || limited || (status === 503 && after !== undefined);
    return new RetryError(`GET ${url}: ${said}`, { ...failure, throttled, retryAfter: after });
  }
  if (status === 401) return new StopError(`GET ${url}: ${keyRefusal(said, facts)}`, failure);
  const refused = hinted(hintFor(answer, { code, message }, facts));
  const isUnknownRoute = status === 404 && isUnknownUrl({ code, message });
  return isUnknownRoute ? new UnknownRouteError(refused, failure) : new SkipError(refused, failure);
}

/** Whether a request that got this status may succeed if it is sent again. */
export function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

/** Returns the error if the service refused the request because there were too many; otherwise undefined. */
export function throttleOf(answer: Answer): RetryError | undefined {
  if (answer.status === 200) return undefined;
  const error = errorFromAnswer(answer, { key: "" });
  return error instanceof RetryError && error.throttled ? error : undefined;
}

/** The code and message of the service's error; if there is none, the title or start of the body. */
export function refusalOf(answer: Answer, key: string): Refusal {
  const text = textOf(answer);
  const { code, message } = ownError(answer);
  const [name, words] = [typeof code === "string" ? code : "", wordsOf(message)];
  if (name || words) return { code: plainText(name, key, 60), message: plainText(words, key) };
  const title = titleOf(text) ?? text;
  return { code: "", message: plainText(title, key, 100).replace(new RegExp(`^${answer.status}\\b *`), "") };
}

/** The title of a web page. */
export function titleOf(text: string): string | undefined {
  return /<title>([^<]*)<\/title>/i.exec(text)?.[1];
}

/** Whether a 400 says that the service's plugin daemon is down. The request is not at fault then. */
export function isPluginGone(answer: Answer): boolean {
  if (answer.status !== 400) return false;
  const { code, message } = ownError(answer);
  return code === "invalid_param" && typeof message === "string" && /^Failed to request plugin daemon\b/.test(message);
}

/** The service's own error; empty if a proxy answered instead. */
export function ownError(answer: Answer): { readonly code?: unknown; readonly message?: unknown } {
  try {
    const value: unknown = JSON.parse(textOf(answer));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The message of an error as text. Some services send an object with one message per wrong parameter. */
export function wordsOf(message: unknown): string {
  if (typeof message === "string") return message;
  return message === undefined || message === null ? "" : JSON.stringify(message);
}

/** The first 100 kB of the body, as text. */
export function textOf({ body }: Answer): string {
  return Buffer.from(body.subarray(0, 100_000)).toString();
}

/** Milliseconds from a Retry-After header, given in seconds or as a date; undefined if unusable. */
export function retryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN; // Date.parse accepts even "-5"
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The code and message of a refusal. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Returns advice about a refusal, starting with a semicolon; empty if there is none. */
export function hintFor(answer: Answer, refusal: Refusal, facts: MessageFacts): string {
  const { status, url, headers } = answer;
  if (status === 400 && lacksModel(refusal.code, refusal.message))
    return "; configure the embedding model of this dataset in the service";
  if (status === 304) return "; not modified: a cache answers in place of the service; exclude the API from the cache";
  if (status >= 300 && status < 400) return redirectHint(headers.location, url, facts);
  const isChunk = /\/segments\/[^/?]+$/.test(url);
  if (isChunk && (status === 405 || (status === 404 && isUnknownUrl(refusal))))
    return "; an older service does not give a single chunk";
  if (status === 404) return notFoundHint(url, refusal, facts);
  if (status === 403 && /\/datasets\?/.test(url)) {
    return "; a key of one dataset may not list them: name the datasets by id in the job file";
  }
  if (status === 403) return "; is API access on for this dataset, and may the key read it?";
  return "";
}

/** Whether a 400 says that the dataset's embedding model is missing. Then the service refuses all lists of the dataset. */
export function lacksModel(code: string | undefined, message: string): boolean {
  return code === "provider_not_initialize" || /\bProvider .* does not exist/.test(message);
}

/** Whether a 404 means an unknown URL. For a missing record, the service sends a code. */
export function isUnknownUrl({ code, message }: Refusal): boolean {
  return code === "" || /^The requested URL was not found/i.test(message);
}

/** A hint to check the base URL. */
export function baseUrlHint(url: string, { names = jobFileNames }: MessageFacts): string {
  const hint = baseOf(url)?.endsWith("/v1") ? "" : ", which usually ends in /v1";
  return `; check ${names.baseUrl}${hint}`;
}

/** The source of a key that was typed at a prompt. */
export const typedKey = "the key you typed";

/** A sentence about a refused key. Does not show the key. `said`: the status, and the words of the service. */
export function keyRefusal(said: string, { key, keySource: place }: MessageFacts): string {
  const from = place === undefined ? "this key" : `the key from ${place}`;
  const advice = /^["'`].*["'`]$/.test(key)
    ? "it has quotes around it: remove them"
    : key.startsWith("app-")
      ? "it is the key of an app: use one that begins with dataset-"
      : "create one under Knowledge → Service API";
  return `the service does not accept ${place === typedKey ? typedKey : from} (${said.replace(/\.$/, "")}); ${advice}`;
}

/** A hint about a URL that the service does not know. */
export function unknownUrlHint(url: string, facts: MessageFacts): string {
  return `; the service does not know this URL${baseUrlHint(url, facts)}`;
}

function notFoundHint(url: string, refusal: Refusal, facts: MessageFacts): string {
  const [path = ""] = url.split("?");
  if (isUnknownUrl(refusal) || path.endsWith("/datasets")) {
    if (path.endsWith("/child_chunks")) return "; an older service has no child lists: set child_chunks: none";
    return unknownUrlHint(url, facts);
  }
  if (/^Dataset\b/.test(refusal.message) || path.endsWith("/documents"))
    return "; check the id of the dataset, and that the key may read it";
  return path.endsWith("/segments") ? "; check the id of the document" : "";
}

/** A hint about a redirect. If it points to the same list at another address, suggests the base URL to use. */
function redirectHint(location: string | string[] | undefined, url: string, facts: MessageFacts): string {
  const { key, names = jobFileNames } = facts;
  if (typeof location !== "string") return "; it redirects, which is not followed";
  const hint = `; it redirects to ${plainText(location, key, 200)}, which is not followed`;
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const base = target && baseOf(target.href);
  if (!base) return `${hint}${baseUrlHint(url, facts)}`;
  if (base === baseOf(url)) return `${hint}; this address is not the Knowledge API${baseUrlHint(url, facts)}`;
  if (url.startsWith("https:") && target.protocol !== "https:") return hint; // never suggest sending the key unencrypted
  return `${hint}; ${names.baseUrl} should probably be ${plainText(base, key, 200)}`;
}

/** The part of a URL before the path of an operation. */
function baseOf(url: string): string | undefined {
  return /^(.*?)\/datasets([/?]|$)/.exec(url)?.[1];
}
