import { type Dispatcher, Pool, ProxyAgent } from "undici";
import type { ProxyHost } from "./proxy.js";
import { secureContextFromFile } from "./secure-context.js";

export interface ConnectionOptions {
  /** Connections held open at the most. */
  readonly connections: number;
  /** Milliseconds until a connection must be there. */
  readonly timeout: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile?: string | undefined;
  readonly proxy: ProxyHost | undefined;
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
 * Opens connections to the host of a URL: directly, or through a proxy, which tunnels https and is sent the whole URL for
 * http. Certificates are always checked, that of the proxy, too. Deadlines of requests are left to whoever sends them.
 */
export function openConnections({ origin, protocol }: URL, options: ConnectionOptions): Dispatcher {
  const { connections, timeout, caFile, proxy } = options;
  const connect = {
    rejectUnauthorized: true, // said, so that NODE_TLS_REJECT_UNAUTHORIZED=0 cannot switch the check off
    timeout,
    ...(caFile ? { secureContext: secureContextFromFile(caFile) } : {}),
  };
  const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };
  if (!proxy) return new Pool(origin, { ...limits, connect });
  return new ProxyAgent({
    uri: proxy.origin,
    ...(proxy.authorization ? { token: proxy.authorization } : {}),
    proxyTunnel: protocol === "https:",
    requestTls: connect,
    proxyTls: connect,
    factory: (to, { connect }: Pool.Options) => new Pool(to, { ...limits, ...(connect ? { connect } : {}) }),
    clientFactory: (to, { connect }: Pool.Options) =>
      new Pool(to, { connections, headersTimeout: timeout, ...(connect ? { connect } : {}) }),
  });
}
