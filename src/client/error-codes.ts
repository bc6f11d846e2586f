/** How far a request came that failed, by the codes of Node, OpenSSL and undici. All decisions about failures start here. */

/** The code of an error; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** There was no connection, so nothing was sent. ETIMEDOUT does not qualify: it also occurs on open connections. */
const unsent = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const wrongProtocol = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;
const reset = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
const silent = /^(SILENCE|UND_ERR_(CONNECT|HEADERS)_TIMEOUT)$/;

/** Whether no connection was made, so that nothing was sent. */
export function isUnsent(error: unknown): boolean {
  const code = codeOf(error);
  return unsent.test(code) || code === "ERR_SSL_WRONG_VERSION_NUMBER";
}

/** Whether the other end closed the connection, perhaps because of a single page. */
export function isReset(error: unknown): boolean {
  return reset.test(codeOf(error));
}

/** Whether the service is down, or closed the connection. Timeouts of an answer do not count: one slow page can cause them. */
export function isGone(error: unknown): boolean {
  return unsent.test(codeOf(error)) || isReset(error) || codeOf(error) === "ETIMEDOUT";
}

/** Whether the server speaks no TLS. */
export function lacksTls(error: unknown): boolean {
  return wrongProtocol.test(codeOf(error));
}

/** Whether the connection or the first byte of an answer timed out. */
export function isSilence(error: unknown): boolean {
  return silent.test(codeOf(error));
}
