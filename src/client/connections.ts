import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { UsageError } from "../errors.js";
import { jobFileNames, type SettingNames } from "./failed-request.js";
import { type ProxyHost, proxyFor } from "./proxy.js";

export interface ConnectionOptions {
  /** Connections held open at the most. */
  readonly connections: number;
  /** Milliseconds until a connection must be there. */
  readonly timeout: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile?: string | undefined;
  /** Names the proxies: HTTP_PROXY, HTTPS_PROXY, NO_PROXY. */
  readonly env: NodeJS.ProcessEnv;
  /** The names of settings in messages; those of the job file by default. */
  readonly names?: SettingNames | undefined;
}

export interface Connections {
  readonly dispatcher: Dispatcher;
  /** The proxy that was asked for connections; none before the first request. */
  readonly proxy: () => ProxyHost | undefined;
}

/**
 * Settles like the work, or rejects as soon as the signal is aborted: undici ends no request that still waits for its
 * connection.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Opens connections to the host of a URL, and to no other: directly, or in tunnels through the proxy of the environment, as undici decides.
 * Certificates are always checked, that of the proxy, too. Senders set their own deadlines. UsageError
 * for a proxy that is none.
 */
export function openConnections(target: URL, options: ConnectionOptions): Connections {
  const { connections, timeout, caFile, env, names = jobFileNames } = options;
  const proxy = proxyFor(target, env);
  const tls = {
    rejectUnauthorized: true, // said, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot switch the check off
    timeout,
    ...(caFile ? { secureContext: secureContextFromFile(caFile, names.caFile) } : {}),
  };
  if (!proxy) {
    const pool = new Pool(target.origin, {
      connections,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: tls,
    });
    return { dispatcher: pool, proxy: () => undefined };
  }
  let isAsked = false;
  const connectToProxy = buildConnector(tls);
  const connectToAskedProxy: typeof connectToProxy = (to, connected) => {
    isAsked = true;
    connectToProxy(to, connected);
  };
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxy.origin,
    httpsProxy: proxy.origin,
    noProxy: (env.no_proxy ?? env.NO_PROXY ?? "").trim(),
    ...(proxy.authorization ? { token: proxy.authorization } : {}),
    connections,
    allowH2: false,
    proxyTunnel: true,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
    requestTls: tls,
    clientFactory: (to) =>
      new Pool(to, { connections, allowH2: false, headersTimeout: timeout, connect: connectToAskedProxy }),
  });
  return { dispatcher, proxy: () => (isAsked ? proxy : undefined) };
}

/**
 * Trusts what Node trusts anyway and the PEM certificates of the file. UsageError, naming the setting, where it has none. To be made once:
 * the `ca` option of a connection replaces the usual roots, and to give it all of them costs 18 ms for every connection.
 */
function secureContextFromFile(caFile: string, setting: string): SecureContext {
  const certificates = certificatesFrom(caFile, setting);
  const trust = createSecureContext();
  for (const certificate of certificates) trust.context.addCACert(certificate);
  return trust;
}

/** The certificates of a PEM file. UsageError, naming the setting, where it has none. */
export function certificatesFrom(caFile: string, setting: string): readonly string[] {
  const found = certificatesIn(textOf(caFile, setting));
  try {
    if (found.length > 0) return found.map((text) => new X509Certificate(text).toString());
  } catch {}
  throw wrongFile(`${caFile} holds ${found.length > 0 ? "a broken" : "no"} PEM certificate`, setting);
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function textOf(caFile: string, setting: string): string {
  try {
    return readFileSync(caFile, "utf8");
  } catch {
    throw wrongFile(`cannot read ${caFile}`, setting);
  }
}

function wrongFile(message: string, setting: string): UsageError {
  return new UsageError("The job cannot run:", [{ path: setting, message }]);
}
