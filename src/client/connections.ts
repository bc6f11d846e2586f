import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Dispatcher } from "undici";
import { UsageError } from "../errors.js";
import { jobFileNames, type MessageFacts, type ProxyHost } from "./failed-request.js";

/** Loaded with `require`: `import` takes 20 ms longer, because it also scans every file of the library for its exports. */
export const undici: typeof import("undici") = createRequire(import.meta.url)("undici");

/** The service to send requests to. */
export interface ServiceOptions extends MessageFacts {
  /** The base URL, which ends in the version segment: `https://kb.example.com/v1`. */
  readonly baseUrl: string;
}

export interface ConnectionOptions extends Pick<MessageFacts, "names"> {
  /** Maximum open connections. */
  readonly connections: number;
  /** Milliseconds to wait for a connection. */
  readonly timeout: number;
  /** PEM file of certificates to trust in addition to the usual ones. */
  readonly caFile?: string | undefined;
  /** Source of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly env: NodeJS.ProcessEnv;
}

export interface Connections {
  readonly dispatcher: Dispatcher;
  /** The proxy of these connections; undefined before the first request. */
  readonly proxy: () => ProxyHost | undefined;
}

/**
 * Waits for `work`, but rejects as soon as the signal is aborted. Needed because undici does not cancel a request that still
 * waits for its connection.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Opens connections only to the host of `target`, directly or through the environment's proxy, as undici decides. Certificates are
 * always checked, including the proxy's. Senders set their own deadlines. Throws UsageError for an invalid proxy.
 */
export function openConnections(target: URL, options: ConnectionOptions): Connections {
  const { connections, timeout, caFile, env, names = jobFileNames } = options;
  const proxy = proxyFor(target, env);
  const tls = {
    rejectUnauthorized: true, // explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot disable the check
    timeout,
    ...(caFile ? { secureContext: secureContextFromFile(caFile, names.caFile) } : {}),
  };
  const usual = { connections, allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: tls };
  if (!proxy) return { dispatcher: new undici.Pool(target.origin, usual), proxy: () => undefined };
  let isAsked = false;
  const connectToProxy = undici.buildConnector(tls);
  const connectToAskedProxy: typeof connectToProxy = (to, connected) => {
    isAsked = true;
    connectToProxy(to, connected);
  };
  const dispatcher = new undici.EnvHttpProxyAgent({
    ...usual,
    httpProxy: proxy.origin,
    httpsProxy: proxy.origin,
    noProxy: (env.no_proxy ?? env.NO_PROXY ?? "").trim(),
    ...(proxy.authorization ? { token: proxy.authorization } : {}),
    proxyTunnel: true,
    requestTls: tls,
    clientFactory: (to) =>
      new undici.Pool(to, { connections, allowH2: false, headersTimeout: timeout, connect: connectToAskedProxy }),
  });
  return { dispatcher, proxy: () => (isAsked ? proxy : undefined) };
}

/**
 * The certificates to trust: Node's and those of a PEM file. Throws UsageError, naming the setting, if the file has none.
 * Create it once: a connection's `ca` option replaces the usual roots, and passing all of them costs 18 ms per connection.
 */
function secureContextFromFile(caFile: string, setting: string): SecureContext {
  const trust = createSecureContext();
  for (const certificate of certificatesFrom(caFile, setting)) trust.context.addCACert(certificate);
  return trust;
}

/** Reads the certificates of a PEM file. Throws UsageError, naming the setting, if it has none. */
export function certificatesFrom(caFile: string, setting: string): readonly string[] {
  const failure = (message: string) => new UsageError("The job cannot run:", [{ path: setting, message }]);
  const found = certificatesIn(caFile);
  if (!found) throw failure(`cannot read ${caFile}`);
  try {
    if (found.length > 0) return found.map((text) => new X509Certificate(text).toString());
  } catch {}
  throw failure(`${caFile} holds ${found.length > 0 ? "a broken" : "no"} PEM certificate`);
}

function certificatesIn(caFile: string): readonly string[] | undefined {
  try {
    return readFileSync(caFile, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  } catch {
    return undefined;
  }
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
