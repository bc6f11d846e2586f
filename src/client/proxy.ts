import { UsageError } from "../errors.js";

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
