import { setTimeout as sleep } from "node:timers/promises";
import { type Connections, openConnections, unlessAborted } from "../client/connections.js";
import { proxyTrouble } from "../client/proxy.js";
import { UsageError } from "../errors.js";
import { tool } from "../tool.js";

export interface SendOptions {
  /** Names the proxies. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends it, the try under way included. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait before each further try; so many tries there are after the first. */
  readonly waits?: readonly number[];
  /** Milliseconds for one try. */
  readonly timeout?: number;
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  ERR_INVALID_URL: "its URL is no URL",
};

/**
 * Posts a JSON body, and again where that may help. Gives why it failed, or undefined when it was taken; never rejects. The
 * reason holds nothing of the URL, which is a secret. Redirects are not followed, certificates always checked.
 */
export async function sendNotice(url: string, body: string, options: SendOptions): Promise<string | undefined> {
  const { signal, waits = [1_000, 2_000] } = options;
  for (let tried = 0; ; tried++) {
    const { reason, again } = await post(url, body, options);
    const wait = waits[tried];
    if (reason === undefined || !again || wait === undefined || signal.aborted) return reason;
    await sleep(wait, undefined, { signal }).catch(() => {});
  }
}

interface Tried {
  readonly reason?: string;
  /** Whether it may help to try again. */
  readonly again?: boolean;
}

async function post(url: string, body: string, { signal, env, timeout = 10_000 }: SendOptions): Promise<Tried> {
  const limit = AbortSignal.timeout(timeout);
  let connections: Connections | undefined;
  try {
    const target = new URL(url);
    connections = openConnections(target, { connections: 1, timeout, env });
    const status = await statusOf(target, body, connections, AbortSignal.any([signal, limit]));
    if (status >= 200 && status < 300) return {};
    const what = status >= 300 && status < 400 ? "a redirect, which is not followed" : `status ${status}`;
    return { reason: `it answered with ${what}`, again: status >= 500 || [408, 425, 429].includes(status) };
  } catch (error) {
    if (signal.aborted) return { reason: "there was no time left for it" };
    if (limit.aborted) return { reason: `no answer within ${timeout / 1000} s`, again: true };
    if (error instanceof UsageError) return { reason: error.message.replace(/\s+/g, " ") };
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const words = reasons[code] ?? `it could not be sent (${code})`;
    const proxy = connections?.proxy();
    const atProxy = proxy && proxyTrouble(error, new URL(url).origin, proxy, words);
    return { reason: atProxy?.text ?? words, again: true };
  } finally {
    await connections?.dispatcher.destroy();
  }
}

/** The status of the answer; its body is not read. */
async function statusOf(target: URL, body: string, { dispatcher }: Connections, signal: AbortSignal): Promise<number> {
  const headers = { "content-type": "application/json", "user-agent": `${tool.name}/${tool.version}` };
  const { origin, pathname, search } = target;
  const sent = dispatcher.request({ origin, path: pathname + search, method: "POST", headers, body, signal });
  const answer = await unlessAborted(sent, signal);
  answer.body.on("error", () => {}); // it breaks off with the connection
  return answer.statusCode;
}
