import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import type * as undici from "undici";
import { UsageError } from "../errors.js";
import { jobFileNames, type SettingNames } from "./failed-request.js";
import { type ProxyHost, proxyFor, tunnelClosed } from "./proxy.js";
import { buildConnector, Dispatcher, EnvHttpProxyAgent, Pool } from "./undici/parts.js";

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
  readonly dispatcher: undici.Dispatcher;
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
 * Certificates are always checked, that of the proxy, too. Deadlines of requests are left to whoever sends them. UsageError
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
    const pool = new Pool(target.origin, { connections, headersTimeout: 0, bodyTimeout: 0, connect: tls });
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
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: tls,
    factory: (to, poolOptions) => new KeptPool(to, poolOptions),
    requestTls: tls,
    clientFactory: (to) => proxyPool(to, { connections, headersTimeout: timeout, connect: connectToAskedProxy }),
  });
  return { dispatcher, proxy: () => (isAsked ? proxy : undefined) };
}

/**
 * The connections to a proxy. If the proxy closes one on CONNECT, undici treats it as a dropped tunnel and reconnects at once, thousands
 * of times a second. Under another code, the error fails the request.
 */
function proxyPool(to: URL, options: undici.Pool.Options): undici.Pool {
  const pool = new Pool(to, options);
  const connect = pool.connect.bind(pool);
  const connectOnce = async (asked: undici.Dispatcher.ConnectOptions) => {
    try {
      return await connect(asked);
    } catch (cause) {
      const isClosed =
        cause instanceof Error && "code" in cause && /^(UND_ERR_SOCKET|UND_ERR_INFO)$/.test(String(cause.code));
      throw isClosed ? Object.assign(new Error("it closed the connection", { cause }), { code: tunnelClosed }) : cause;
    }
  };
  return Object.assign(pool, { connect: connectOnce });
}

/**
 * A pool that tells undici's agent nothing of its connections. The agent would close a pool when the last of them ends, and
 * open another beside it while requests still wait in the first: past the bound.
 */
class KeptPool extends Dispatcher {
  readonly #pool: undici.Pool;

  constructor(origin: string | URL, options: undici.Pool.Options) {
    super();
    this.#pool = new Pool(origin, options);
  }

  override dispatch(options: undici.Dispatcher.DispatchOptions, handler: undici.Dispatcher.DispatchHandler): boolean {
    return this.#pool.dispatch(options, handler);
  }

  override close(): Promise<void> {
    return this.#pool.close();
  }

  override destroy(): Promise<void> {
    return this.#pool.destroy();
  }
}

/**
 * Trusts what Node trusts anyway and the PEM certificates of the file. UsageError, naming the setting, where it has none. To be made once:
 * the `ca` option of a connection replaces the usual roots, and to give it all of them costs 18 ms for every connection.
 */
function secureContextFromFile(caFile: string, setting: string): SecureContext {
  const certificates = certificatesOf(caFile, setting);
  const trust = createSecureContext();
  for (const certificate of certificates) trust.context.addCACert(certificate);
  return trust;
}

function certificatesOf(caFile: string, setting: string): readonly string[] {
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
