import { errors } from "undici";
import { RetryError, StopError } from "../errors.js";
import { plainText } from "../safe-text.js";
import { codeOf, isGone, lacksTls } from "./error-codes.js";
import { type ProxyHost, proxyTrouble } from "./proxy.js";
import type { Answer } from "./send.js";

const untrusted = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;
const wrongCertificate = /^(CERT_|ERR_TLS_CERT_)/;
const noTls = "the server there does not speak TLS; is it http?";
const sentences: Readonly<Record<string, string>> = {
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no connection in time",
};

interface Sent {
  /** Default: GET. */
  readonly method?: string;
  /** The status of an answer that broke off. */
  readonly status?: number | undefined;
  /** The proxy that it was sent through. */
  readonly proxy?: ProxyHost | undefined;
  /** Default: the names in the job file. */
  readonly names?: SettingNames | undefined;
}

/** Decides what to do about a request without a complete answer: stop for a bad certificate or header, retry everything else. */
export function failedRequest(
  error: unknown,
  url: string,
  { method = "GET", status, proxy, names = jobFileNames }: Sent = {},
): RetryError | StopError {
  if (error instanceof RetryError) return error;
  const code = codeOf(error);
  const sentence = sentenceOf(error, url);
  const atProxy = proxy && proxyTrouble(error, new URL(url).origin, proxy, sentence);
  if (atProxy) return new RetryError(`${method} ${url}: ${atProxy.text}`, { cause: error, trouble: atProxy.trouble });
  const via = proxy ? `, through the proxy ${proxy.host} that ${proxy.variable} names` : "";
  if (untrusted.test(code)) {
    const hint = `${names.caFile} names a file of certificates to trust in addition to the usual ones`;
    return new StopError(`${method} ${url}: the certificate is not trusted (${code}); ${hint}`, { cause: error });
  }
  if (wrongCertificate.test(code)) {
    return new StopError(`${method} ${url}: the certificate is not valid there (${code})`, { cause: error });
  }
  if (error instanceof errors.HTTPParserError) {
    // no cause: it would include the received bytes
    return new RetryError(`${method} ${url}: the server there does not speak HTTP${via}`, { trouble: "no service" });
  }
  if (code === "UND_ERR_INVALID_ARG") {
    return new StopError(`${method} ${url}: cannot be sent: ${sentence}`, { cause: error });
  }
  const trouble = lacksTls(error) ? "no service" : isGone(error) ? "gone" : undefined;
  return new RetryError(`${method} ${url}: ${sentence}${via}`, {
    cause: error,
    ...(status === undefined ? (trouble ? { trouble } : {}) : { status }), // an answer shows that the service is up
  });
}

function sentenceOf(error: unknown, url: string): string {
  const code = codeOf(error);
  if (code === "ECONNREFUSED") return `connection refused by ${new URL(url).host}`;
  if (lacksTls(error)) return noTls;
  return sentences[code] ?? (plainText(error instanceof Error ? error.message : String(error), "") || code);
}

/** An error answer, as the service words it. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** How users know the settings: by flag or by job-file key. Null: the command has no such setting. */
export interface SettingNames {
  readonly baseUrl: string;
  readonly caFile: string;
  readonly concurrency: string;
  readonly maxBody: string | null;
  readonly outage: string | null;
}

export const jobFileNames: SettingNames = {
  baseUrl: "service.base_url",
  caFile: "service.ca_file",
  concurrency: "service.concurrency",
  maxBody: "service.max_body",
  outage: "service.outage",
};

/** What to do about a refusal, after a semicolon; empty if nothing helps. */
export function hintFor(answer: Answer, refusal: Refusal, key: string, names: SettingNames): string {
  const { status, url, headers } = answer;
  if (status === 400 && lacksModel(refusal.code, refusal.message))
    return "; configure the embedding model of this dataset in the service";
  if (status === 304) return "; not modified: a cache answers in place of the service, and nothing was asked of one";
  if (status >= 300 && status < 400) return redirectHint(headers.location, url, key, names);
  const isChunk = /\/segments\/[^/?]+$/.test(url);
  if (isChunk && (status === 405 || (status === 404 && isUnknownUrl(refusal))))
    return "; an older service does not give a single chunk";
  if (status === 404) return notFoundHint(url, refusal, names);
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

/** Whether a 404 is about the URL itself. If the service knows the URL, but not the thing, it sends a code. */
export function isUnknownUrl({ code, message }: Refusal): boolean {
  return code === "" || /^The requested URL was not found/i.test(message);
}

/** Says where to look if the base URL may be wrong. */
export function baseUrlHint(url: string, names: SettingNames): string {
  const hint = baseOf(url)?.endsWith("/v1") ? "" : ", which usually ends in /v1";
  return `; check ${names.baseUrl}${hint}`;
}

/** The source of a key that was typed at a prompt. */
export const typedKey = "the key you typed";

/** Says what is wrong with a refused key, without showing it. */
export function keyHint(key: string, place: string | undefined): string {
  const from = place === undefined ? "" : `, which comes from ${place}`;
  const hint =
    place === typedKey ? `; the service does not take ${typedKey}` : `; the service does not take this key${from}`;
  if (/^["'`].*["'`]$/.test(key)) return `${hint}: it has quotes around it, remove them`;
  if (!key.startsWith("app-")) return hint;
  return `${hint}: this is the key of an app; the Knowledge API needs a dataset key, which begins with dataset-`;
}

/** Says where to look if the service does not know a URL. */
export function unknownUrlHint(url: string, names: SettingNames): string {
  return `; the service does not know this URL${baseUrlHint(url, names)}`;
}

function notFoundHint(url: string, refusal: Refusal, names: SettingNames): string {
  const [path = ""] = url.split("?");
  if (isUnknownUrl(refusal) || path.endsWith("/datasets")) {
    if (path.endsWith("/child_chunks")) return "; an older service has no child lists: set child_chunks: none";
    return unknownUrlHint(url, names);
  }
  if (/^Dataset\b/.test(refusal.message) || path.endsWith("/documents"))
    return "; check the id of the dataset, and that the key may read it";
  return path.endsWith("/segments") ? "; check the id of the document" : "";
}

/** If a redirect points to the same list elsewhere, suggests the base URL to use. */
function redirectHint(location: string | string[] | undefined, url: string, key: string, names: SettingNames): string {
  if (typeof location !== "string") return "; it redirects, which is not followed";
  const hint = `; it redirects to ${plainText(location, key, 200)}, which is not followed`;
  const target = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const base = target && baseOf(target.href);
  if (!base) return `${hint}${baseUrlHint(url, names)}`;
  if (base === baseOf(url)) return `${hint}; this address is not the Knowledge API${baseUrlHint(url, names)}`;
  if (url.startsWith("https:") && target.protocol !== "https:") return hint; // never suggest sending the key unencrypted
  return `${hint}; ${names.baseUrl} should probably be ${plainText(base, key, 200)}`;
}

/** The part of a URL before the path of an operation. */
function baseOf(url: string): string | undefined {
  return /^(.*?)\/datasets([/?]|$)/.exec(url)?.[1];
}
