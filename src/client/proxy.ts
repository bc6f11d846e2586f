import { UsageError } from "../errors.js";

/** The error code of undici where the proxy closed the connection during CONNECT. */
const tunnelClosed = "UND_ERR_PRX_CONN";

/** The proxy that the environment names for a scheme. */
export interface ProxyHost {
  /** Without user and password. */
  readonly origin: string;
  /** As messages name it: `proxy.example.com:3128`. */
  readonly host: string;
  /** The header that user and password make. */
  readonly authorization: string | undefined;
  /** The variable that names it. */
  readonly variable: string;
}

/**
 * The proxy for an address that NO_PROXY does not name, which is left to undici, as are its rules here: of two names of a
 * variable the lower-case one comes first, be it empty, and https goes through HTTP_PROXY where HTTPS_PROXY names nothing.
 * UsageError where the variable holds no URL of a proxy; its value, in which a password can be, is not shown.
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

/** Some write a percent sign in a password as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Error codes of a connection that never was: through a proxy, of that to the proxy. */
const notReached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/;

/** The proxy's answer to a request for a tunnel, as undici words it. */
const refused = /^Proxy response \((\d+)\)/;

/** A failure of the proxy: a sentence without its user and password, and what to do next. */
interface ProxyTrouble {
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
  const failure = (what: string, trouble: ProxyTrouble["trouble"]) => ({ text: `the proxy ${host} ${what}`, trouble });
  const code = "code" in error ? String(error.code) : "";
  if (code === tunnelClosed)
    return failure(`closed the connection on CONNECT; is it a proxy? check ${variable}`, "no proxy");
  if (notReached.test(code)) {
    const why = code === "ECONNREFUSED" ? "connection refused" : words; // the words may speak of the service
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
