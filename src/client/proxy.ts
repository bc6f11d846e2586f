import { BlockList, isIP } from "node:net";
import { UsageError } from "../errors.js";

/** A proxy that the environment names for an address. */
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
 * The proxy for an address, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY or their lower-case forms, which come first; none for this
 * machine. UsageError where the variable holds no URL of a proxy; its value, in which a password can be, is not shown.
 */
export function proxyFor(target: URL, env: NodeJS.ProcessEnv): ProxyHost | undefined {
  const scheme = target.protocol === "https:" ? "https" : "http";
  const variable = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`].find((name) => env[name]?.trim());
  if (variable === undefined || isDirect(target, env.no_proxy?.trim() || env.NO_PROXY || "")) return undefined;
  return proxyFrom(env[variable]?.trim() ?? "", variable);
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

/** Whether an address needs no proxy: this machine, which a proxy would take for itself, and what NO_PROXY names. */
function isDirect({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) return true;
  const number = port || (protocol === "https:" ? "443" : "80");
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && isNamed(host, number, entry));
}

/** Whether an entry of NO_PROXY is this host, a domain of it, a network that it is in, or `*`. */
function isNamed(host: string, port: string, entry: string): boolean {
  if (entry === "*") return true;
  const [, network, bits] = /^([\da-f.:]+)\/(\d+)$/.exec(entry) ?? [];
  if (network !== undefined) return isWithin(host, network, Number(bits));
  const [, bracketed, plain, only] = /^(?:\[(.*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const name = (bracketed ?? plain ?? "").replace(/^\*?\./, "");
  return name !== "" && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)));
}

function isWithin(host: string, network: string, bits: number): boolean {
  const family = isIP(network) === 6 ? "ipv6" : "ipv4";
  if (isIP(network) === 0 || isIP(host) !== isIP(network) || bits > (family === "ipv6" ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, family);
}
