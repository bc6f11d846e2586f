import { openConnections } from "./connections.js";
import { type ExchangeOptions, exchangeWith } from "./exchange.js";
import { type Send, targetOf } from "./send.js";
import { speaksTls } from "./speaks-tls.js";

export interface HttpOptions extends ExchangeOptions {
  /** Connections held open at the most. */
  readonly connections: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile: string | undefined;
  /** Names the proxies; none where it is left out. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface Http {
  readonly send: Send;
  /** Holds so many connections open at the most; the others are closed as soon as their requests are answered. */
  readonly keepTo: (connections: number) => void;
  readonly close: () => Promise<void>;
  /** Whether TLS is spoken where the base URL says http. */
  readonly speaksTls: () => Promise<boolean>;
}

/** Opens the pool of connections. Only GET is ever sent, redirects are not followed, certificates always checked. UsageError for a proxy that is none. */
export function openHttp(options: HttpOptions): Http {
  const base = new URL(options.baseUrl);
  const { caFile, env = {}, names } = options;
  const timeout = Math.min(options.timeout, 10) * 1000;
  const poolOf = (connections: number) => openConnections(base, { connections, timeout, caFile, env, names });
  let pool = poolOf(options.connections);
  let connections = options.connections;
  const pools = new Set([pool]);
  const exchange = exchangeWith(options);
  const send: Send = (request) => exchange({ method: "GET", target: targetOf(request) }, pool);

  function keepTo(most: number): void {
    if (most === connections) return;
    const former = pool;
    connections = most;
    pool = poolOf(most);
    pools.add(pool);
    const forget = () => pools.delete(former);
    former.dispatcher.close().then(forget, forget);
  }

  async function close(): Promise<void> {
    await Promise.all([...pools].map(({ dispatcher }) => dispatcher.destroy()));
  }
  const isProxied = () => [...pools].some(({ proxy }) => proxy());
  let isTls: Promise<boolean> | undefined;
  const speaksTlsThere = async () => {
    isTls ??= base.protocol === "http:" && !isProxied() ? speaksTls(base) : Promise.resolve(false);
    return isTls;
  };
  return { send, keepTo, close, speaksTls: speaksTlsThere };
}
