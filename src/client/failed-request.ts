import { InterruptedError, RetryError, StopError, UsageError } from "../errors.js";

const certificateCodes = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT_)/;

const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused; is the service running there?",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "the body stopped coming",
};

/** What to do about a request that got no whole answer: a certificate that is not trusted stops, all else may pass. */
export function failedRequest(error: unknown, url: string): Error {
  if (error instanceof RetryError || error instanceof StopError || error instanceof UsageError) return error;
  if (error instanceof InterruptedError) return error;
  const code = codeOf(error);
  if (certificateCodes.test(code)) {
    const hint = "service.ca_file names a file of certificates to trust beside the usual ones";
    return new StopError(`GET ${url}: the certificate is not trusted (${code}); ${hint}`, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new RetryError(`GET ${url}: ${sentences[code] ?? (message || code)}`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
