import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "../tool.js";

export interface SendOptions {
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
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name could not be looked up",
  UND_ERR_SOCKET: "the connection was closed",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
};

/**
 * Posts a JSON body, and again where that may help. Gives why it failed, or undefined when it was taken; never rejects. The
 * reason holds nothing of the URL, which is a secret. Redirects are not followed.
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

async function post(url: string, body: string, { signal, timeout = 10_000 }: SendOptions): Promise<Tried> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "user-agent": `${tool.name}/${tool.version}` },
      redirect: "manual",
      signal: AbortSignal.any([signal, limit]),
    });
    await response.body?.cancel();
    const { status } = response;
    if (status >= 200 && status < 300) return {};
    const what = status >= 300 && status < 400 ? "a redirect, which is not followed" : `status ${status}`;
    return { reason: `it answered with ${what}`, again: status >= 500 || [408, 425, 429].includes(status) };
  } catch (error) {
    if (signal.aborted) return { reason: "there was no time left for it" };
    if (limit.aborted) return { reason: `no answer within ${timeout / 1000} s`, again: true };
    const code = codeOf(error);
    return { reason: reasons[code] ?? `it could not be sent (${code})`, again: true };
  }
}

/** The code of the error or of its cause: the message of either may hold the URL. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
}
