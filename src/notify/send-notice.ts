import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
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

async function post(url: string, body: string, { signal, timeout = 10_000 }: SendOptions): Promise<Tried> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const status = await statusOf(url, body, AbortSignal.any([signal, limit]));
    if (status >= 200 && status < 300) return {};
    const what = status >= 300 && status < 400 ? "a redirect, which is not followed" : `status ${status}`;
    return { reason: `it answered with ${what}`, again: status >= 500 || [408, 425, 429].includes(status) };
  } catch (error) {
    if (signal.aborted) return { reason: "there was no time left for it" };
    if (limit.aborted) return { reason: `no answer within ${timeout / 1000} s`, again: true };
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { reason: reasons[code] ?? `it could not be sent (${code})`, again: true };
  }
}

/** The status of the answer; its body is not read. Not `fetch`, whose check of certificates the environment can switch off. */
function statusOf(url: string, body: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "user-agent": `${tool.name}/${tool.version}`,
    };
    const target = new URL(url);
    const send = target.protocol === "https:" ? requestHttps : requestHttp;
    const posted: ClientRequest = send(target, {
      method: "POST",
      headers,
      signal,
      agent: false,
      rejectUnauthorized: true,
    });
    posted.on("response", (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    posted.on("error", reject);
    posted.end(body);
  });
}
