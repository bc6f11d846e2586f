import { RetryError, SkipError, StopError } from "../errors.js";
import { parseJson } from "./parse-json.js";
import { plainText } from "./plain-text.js";
import type { Answer } from "./send.js";

const transient = new Set([408, 425, 429]);
const planLimit = /reached the knowledge base request rate limit/i;

/** The JSON of a 200 answer. Throws what every other answer means: see `errorFromAnswer`; RetryError for a broken body. */
export function checkAnswer(answer: Answer, key: string): unknown {
  if (answer.status !== 200) throw errorFromAnswer(answer, key);
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(answer.body));
  } catch (error) {
    const start = plainText(Buffer.from(answer.body.subarray(0, 200)).toString(), key, 60);
    throw new RetryError(`GET ${answer.url}: the body is no JSON: ${start || "(empty)"}`, { cause: error, status: 200 });
  }
}

/** Sorts an answer by what to do next: retry what may pass, stop at a wrong key, skip the rest; with a hint where one helps. */
export function errorFromAnswer(answer: Answer, key: string): RetryError | SkipError | StopError {
  const { status, url } = answer;
  const { code, message } = bodyOf(answer, key);
  const said = [status, code, message && `${code ? "" : " "}${message}`].filter(Boolean).join(" ").replace(/ {2,}/g, " ");
  const failure = { status, ...(code ? { code } : {}) };
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
  return new SkipError(`GET ${url}: ${said}${hintFor(answer, code)}`, failure);
}

function hintFor(answer: Answer, code: string): string {
  const { status, url, headers } = answer;
  if (status >= 300 && status < 400) {
    const location = typeof headers.location === "string" ? plainText(headers.location, "", 200) : "elsewhere";
    return `; it redirects to ${location}, which is not followed: service.base_url should probably begin like that`;
  }
  if (status === 404 && !code) {
    const hint = new URL(url).pathname.startsWith("/v1/") ? "" : ", which usually ends in /v1";
    return `; the service does not know this URL: check service.base_url${hint}`;
  }
  if (status === 403) return "; is API access on for this dataset, and may the key read it?";
  return "";
}

function bodyOf(answer: Answer, key: string): { code: string; message: string } {
  const text = Buffer.from(answer.body.subarray(0, 100_000)).toString();
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) {
      const code = "code" in body ? plainText(String(body.code), key, 60) : "";
      const message = "message" in body ? plainText(String(body.message), key) : "";
      return { code, message };
    }
  } catch {}
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1];
  return { code: "", message: plainText(title ?? text, key, 100) };
}

/** Milliseconds that a Retry-After header asks for, in seconds or as a date; undefined when it says nothing usable. */
export function retryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
