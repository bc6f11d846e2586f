import { RetryError, StopError } from "../errors.js";
import { jobFileNames, type SettingNames } from "./hint-for.js";
import { plainText } from "./plain-text.js";
import { type ProxyHost, proxyTrouble } from "./proxy.js";
import { errors } from "./undici/parts.js";

const untrusted = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/;
const wrongCertificate = /^(CERT_|ERR_TLS_CERT_)/;
const noTls = "no TLS is spoken there; is it http?";
const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused; is the service running there?",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no connection in time",
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
};

/** Error codes of an absent service, or of one that closed the connection. One slow page alone can cause a timeout. */
const nobodyThere =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_SOCKET)$/;

export interface Sent {
  /** GET by default. */
  readonly method?: string;
  /** The status of an answer that broke off. */
  readonly status?: number | undefined;
  /** The proxy that it was sent through. */
  readonly proxy?: ProxyHost | undefined;
  /** Those of the job file by default. */
  readonly names?: SettingNames | undefined;
}

/** Decides what to do about a request that got no whole answer: a wrong certificate or header stops, all else may pass. */
export function failedRequest(
  error: unknown,
  url: string,
  { method = "GET", status, proxy, names = jobFileNames }: Sent = {},
): RetryError | StopError {
  if (error instanceof RetryError) return error;
  const code = codeOf(error);
  const atProxy = proxy && proxyTrouble(error, new URL(url).origin, proxy, sentenceOf(error));
  if (atProxy) return new RetryError(`${method} ${url}: ${atProxy.text}`, { cause: error, trouble: atProxy.trouble });
  const via = proxy ? `, through the proxy ${proxy.host} that ${proxy.variable} names` : "";
  if (untrusted.test(code)) {
    const hint = `${names.caFile} names a file of certificates to trust beside the usual ones`;
    return new StopError(`${method} ${url}: the certificate is not trusted (${code}); ${hint}`, { cause: error });
  }
  if (wrongCertificate.test(code)) {
    return new StopError(`${method} ${url}: the certificate is not valid there (${code})`, { cause: error });
  }
  if (error instanceof errors.HTTPParserError) {
    // no cause: it would hold the bytes that came
    return new RetryError(`${method} ${url}: what answers there speaks no HTTP${via}`, { trouble: "no service" });
  }
  if (code === "UND_ERR_INVALID_ARG") {
    return new StopError(`${method} ${url}: cannot be sent: ${sentenceOf(error)}`, { cause: error });
  }
  const trouble = status === undefined ? troubleOf(code) : undefined;
  return new RetryError(`${method} ${url}: ${sentenceOf(error)}${via}`, {
    cause: error,
    ...(status === undefined ? {} : { status }),
    ...(trouble ? { trouble } : {}),
  });
}

function sentenceOf(error: unknown): string {
  const code = codeOf(error);
  return sentences[code] ?? (plainText(error instanceof Error ? error.message : String(error), "") || code);
}

function troubleOf(code: string): "gone" | "no service" | undefined {
  if (sentences[code] === noTls) return "no service";
  return nobodyThere.test(code) ? "gone" : undefined;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
