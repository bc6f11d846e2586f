import type { ProxyHost } from "./proxy.js";

/** Error codes of a connection that never was: through a proxy, of that to the proxy. */
const notReached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/;

/** The proxy's answer to a request for a tunnel, as undici words it. */
const refused = /^Proxy response \((\d+)\)/;

/** A failure of the proxy: a sentence without its user and password, and what to do next. */
export interface ProxyTrouble {
  readonly text: string;
  readonly trouble: "no proxy" | "no service" | "gone";
}

/** The trouble that a request to this origin met at the proxy; undefined if it failed behind it. `words`: the error in words. */
export function proxyTrouble(
  error: unknown,
  origin: string,
  { host, variable, authorization }: ProxyHost,
  words: string,
): ProxyTrouble | undefined {
  if (!(error instanceof Error)) return undefined;
  const told = (what: string, trouble: ProxyTrouble["trouble"]) => ({ text: `the proxy ${host} ${what}`, trouble });
  const code = "code" in error ? String(error.code) : "";
  if (notReached.test(code)) {
    const why = code === "ECONNREFUSED" ? "connection refused" : words; // the words may speak of the service
    return told(`cannot be reached: ${why}; check ${variable}`, "no proxy");
  }
  const status = Number(refused.exec(error.message)?.[1] ?? 0);
  if (status === 0) return undefined;
  if (status === 407) {
    const wants = authorization ? "does not take the user and password" : "wants a user and password";
    return told(`${wants} (407); ${variable} holds them, as in http://user:password@${host}`, "no service");
  }
  if (status >= 500) return told(`cannot reach ${origin} (${status})`, "gone");
  const hint = "is it allowed there? NO_PROXY names hosts that need no proxy";
  return told(`refuses a connection to ${origin} (${status}); ${hint}`, "no service");
}
