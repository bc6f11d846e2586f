import { UsageError } from "../errors.js";
import { codeOf, isGone, isReset } from "./error-codes.js";

/** undici's error code if the proxy closed the connection during CONNECT. */
const tunnelClosed = "UND_ERR_PRX_CONN";

/** The environment's proxy for a scheme. */
export interface ProxyHost {
  /** Without user and password. */
  readonly origin: string;
  /** As shown in messages: `proxy.example.com:3128`. */
  readonly host: string;
  /** The header made from user and password. */
  readonly authorization: string | undefined;
  /** The variable that sets it. */
  readonly variable: string;
}

/**
 * The proxy for an address, assuming that NO_PROXY does not list it (undici checks that). Follows undici's rules: the lower-case
 * variable wins, even if empty, and https uses HTTP_PROXY if HTTPS_PROXY is unset. Throws UsageError if the variable is not a
 * proxy URL. Its value is not shown, because it may contain a password.
 */
export function proxyFor({ protocol }: URL, env: NodeJS.ProcessEnv): ProxyHost | undefined {
  for (const name of protocol === "https:" ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY"]) {
    const variable = env[name.toLowerCase()] === undefined ? name : name.toLowerCase();
    const text = env[variable]?.trim();
    if (text) return proxyFrom(text, variable);
  }
  return undefined;
}

function proxyFrom(text: string, variable: string): ProxyHost {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const message = "expected the URL of a proxy such as http://proxy.example.com:3128 (its value is not shown)";
    throw new UsageError("The proxy cannot be used:", [{ path: variable, message }]);
  }
  const { origin, username, password, hostname, port, protocol } = url;
  const login = [username, password].map(decoded).join(":");
  return {
    origin,
    host: `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`,
    authorization: username === "" ? undefined : `Basic ${Buffer.from(login).toString("base64")}`,
    variable,
  };
}

/** Decodes a password, which may contain a bare percent sign. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The proxy's answer to CONNECT, as undici words it. */
const refused = /^Proxy response \((\d+)\)/;

/** A failure of the proxy: a sentence without user and password, and what to do next. */
interface ProxyTrouble {
  readonly text: string;
  readonly trouble: "no proxy" | "no service" | "gone";
}

/** The failure of a request at the proxy; undefined if it failed beyond the proxy. `words`: the error in words. */
export function proxyTrouble(
  error: unknown,
  origin: string,
  { host, variable, authorization }: ProxyHost,
  words: string,
): ProxyTrouble | undefined {
  if (!(error instanceof Error)) return undefined;
  const failure = (what: string, trouble: ProxyTrouble["trouble"]) => ({ text: `the proxy ${host} ${what}`, trouble });
  const code = codeOf(error);
  if (code === tunnelClosed)
    return failure(`closed the connection on CONNECT; is it a proxy? check ${variable}`, "no proxy");
  if ((isGone(error) && !isReset(error)) || code === "UND_ERR_HEADERS_TIMEOUT") {
    const why = code === "ECONNREFUSED" ? "connection refused" : words; // the words may mention the service
    return failure(`cannot be reached: ${why}; check ${variable}`, "no proxy");
  }
  const status = Number(refused.exec(error.message)?.[1] ?? 0);
  if (status === 0) return undefined;
  if (status === 407) {
    const wants = authorization ? "does not take the user and password" : "wants a user and password";
    return failure(`${wants} (407); ${variable} holds them, as in http://user:password@${host}`, "no service");
  }
  if (status >= 500) return failure(`cannot reach ${origin} (${status})`, "gone");
  const hint = "is it allowed there? NO_PROXY names hosts that need no proxy";
  return failure(`refuses a connection to ${origin} (${status}); ${hint}`, "no service");
}
