import { RetryError, StopError } from "../errors.js";
import { plainText } from "../safe-text.js";

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

interface Sent extends Pick<MessageFacts, "names"> {
  /** The method of the request; default: GET. */
  readonly method?: string;
  /** The status of the answer, if one began and broke off. */
  readonly status?: number | undefined;
  /** The proxy that the request was sent through. */
  readonly proxy?: ProxyHost | undefined;
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
  const stop = (reason: string) => new StopError(`${method} ${url}: ${reason}`, { cause: error });
  if (untrusted.test(code)) {
    const hint = `${names.caFile} names a file of certificates to trust in addition to the usual ones`;
    return stop(`the certificate is not trusted (${code}); ${hint}`);
  }
  if (wrongCertificate.test(code)) return stop(`the certificate is not valid there (${code})`);
  if (code === "UND_ERR_INVALID_ARG") return stop(`cannot be sent: ${sentence}`);
  const via = proxy ? `, through the proxy ${proxy.host} that ${proxy.variable} names` : "";
  if (error instanceof Error && error.name === "HTTPParserError") {
    // undici's; importing it would slow down every --help
    // no cause: it would include the received bytes
    return new RetryError(`${method} ${url}: the server there does not speak HTTP${via}; check its port`, {
      trouble: "no service",
    });
  }
  const trouble = lacksTls(error) ? "no service" : isGone(error) ? "gone" : undefined;
  return new RetryError(`${method} ${url}: ${sentence}${via}`, {
    cause: error,
    ...(status === undefined ? { trouble } : { status }), // an answer shows that the service is up
  });
}

function sentenceOf(error: unknown, url: string): string {
  const code = codeOf(error);
  if (code === "ECONNREFUSED") return `connection refused by ${new URL(url).host}`;
  if (lacksTls(error)) return noTls;
  return sentences[code] ?? (plainText(error instanceof Error ? error.message : String(error), "") || code);
}

/** The proxy that the environment sets for http or https. */
export interface ProxyHost {
  /** The URL of the proxy, without user and password. */
  readonly origin: string;
  /** The proxy as messages show it: `proxy.example.com:3128`. */
  readonly host: string;
  /** The header with user and password, for the proxy. */
  readonly authorization: string | undefined;
  /** The environment variable that names the proxy. */
  readonly variable: string;
}

/** undici's error code if the proxy closed the connection during CONNECT. */
const tunnelClosed = "UND_ERR_PRX_CONN";

/** undici's message when a proxy refuses CONNECT. */
const refused = /^Proxy response \((\d+)\)/;

/**
 * A sentence about a failure at the proxy, without user and password, and the kind of failure; undefined if the proxy did not cause
 * the failure. `words`: the message of the error.
 */
export function proxyTrouble(
  error: unknown,
  origin: string,
  { host, variable, authorization }: ProxyHost,
  words: string,
) {
  if (!(error instanceof Error)) return undefined;
  const failure = (what: string, trouble: RetryError["trouble"]) => ({ text: `the proxy ${host} ${what}`, trouble });
  const code = codeOf(error);
  if (code === tunnelClosed)
    return failure(`closed the connection on CONNECT; is it a proxy? check ${variable}`, "no proxy");
  if ((isGone(error) && !isReset(error)) || code === "UND_ERR_HEADERS_TIMEOUT") {
    const why = code === "ECONNREFUSED" ? "connection refused" : words; // `words` may mention the service
    return failure(`cannot be reached: ${why}; check ${variable}`, "no proxy");
  }
  const status = Number(refused.exec(error.message)?.[1] ?? 0);
  if (status === 0) return undefined;
  if (status === 407) {
    const wants = authorization ? "does not accept the user and password" : "wants a user and password";
    return failure(`${wants} (407); ${variable} holds them, as in http://user:password@${host}`, "no service");
  }
  if (status >= 500) return failure(`cannot reach ${origin} (${status})`, "gone");
  const hint = "is it allowed there? NO_PROXY names hosts that need no proxy";
  return failure(`refuses a connection to ${origin} (${status}); ${hint}`, "no service");
}

/** The code of an error; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/**
 * Errors that occur before there is a connection, so nothing was sent. ETIMEDOUT is not among them: it also occurs on open
 * connections.
 */
const unsent = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const wrongProtocol = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;
const reset = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
const silent = /^(SILENCE|UND_ERR_(CONNECT|HEADERS)_TIMEOUT)$/;

/** Whether the request was never sent, because no connection or tunnel was made. */
export function isUnsent(error: unknown): boolean {
  const code = codeOf(error);
  const hasNoTunnel = error instanceof Error && refused.test(error.message);
  return hasNoTunnel || unsent.test(code) || code === "ERR_SSL_WRONG_VERSION_NUMBER";
}

/** Whether the service or a proxy closed the connection. That can happen for a single page, so the service may still be up. */
export function isReset(error: unknown): boolean {
  return reset.test(codeOf(error));
}

/** Whether the service is down, or closed the connection. Waiting too long for an answer does not count: one slow page can cause it. */
export function isGone(error: unknown): boolean {
  return unsent.test(codeOf(error)) || isReset(error) || codeOf(error) === "ETIMEDOUT";
}

function lacksTls(error: unknown): boolean {
  return wrongProtocol.test(codeOf(error));
}

/** Whether the connection or the first byte of an answer timed out. */
export function isSilence(error: unknown): boolean {
  return silent.test(codeOf(error));
}

/** The names of settings in messages: flags or job-file keys. Null: the command has no such setting. */
export interface SettingNames {
  readonly baseUrl: string;
  readonly caFile: string;
  readonly concurrency: string;
  readonly maxBody: string | null;
  readonly outage: string | null;
}

/** Settings of messages: the key, which they must not show, and the names of settings. */
export interface MessageFacts {
  readonly key: string;
  /** The source of the key, such as `the variable KNOWLEDGE_API_KEY`. */
  readonly keySource?: string | undefined;
  /** The names of settings in messages; default: those of the job file. */
  readonly names?: SettingNames | undefined;
}

export const jobFileNames: SettingNames = {
  baseUrl: "service.base_url",
  caFile: "service.ca_file",
  concurrency: "service.concurrency",
  maxBody: "service.max_body",
  outage: "service.outage",
};
