import { PassThrough } from "node:stream";
import {
  type ConnectionOptions,
  type Connections,
  openConnections,
  type ServiceOptions,
  unlessAborted,
} from "../client/connections.js";
import { failedRequest } from "../client/failed-request.js";
import type { Client } from "../client/open-client.js";
import { isTransient, retryAfter } from "../client/refused-answer.js";
import type { RequestCounts } from "../client/request-counts.js";
import { RetryError, SkipError, StopError } from "../errors.js";
import { tool } from "../tool.js";

/** Options for downloads. The key is sent only to the origin of the base URL. */
export interface DownloadOptions extends ServiceOptions, Omit<ConnectionOptions, "timeout"> {
  /** Seconds without a byte after which a download is given up. There is no limit on the total time. */
  readonly timeout: number;
  readonly progress: RequestCounts;
}

/** A file whose response has started. */
export interface IncomingFile {
  /** The size according to Content-Length; null without it. */
  readonly announced: number | null;
  /** The bytes. Rejects with RetryError if the connection breaks or stalls. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Downloads a file from an address, which may be relative to the service or point to a file store. Tries once: throws RetryError
 * for failures that may pass, SkipError for others. Messages show only the origin, because the rest of an address may be a
 * signature.
 */
export type Download = <T>(address: string, take: (file: IncomingFile) => Promise<T>) => Promise<T>;

/** Downloads over connections that close at the end of the scope. */
interface Downloads extends AsyncDisposable {
  readonly download: Download;
}

const mostRedirects = 5;
/** Bytes that may wait to be read. If there are more, the connection is paused. */
const mostWaiting = 1 << 20;
const timeouts = new Set<unknown>(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/** Opens downloads. They are the only requests that follow redirects. They share the client's pace and end with it. */
export function openDownloads(client: Pick<Client, "turn" | "signal">, options: DownloadOptions): Downloads {
  const base = new URL(options.baseUrl);
  const pools = new Map<string, Connections>();
  const poolFor = (url: URL): Connections => {
    const timeout = Math.min(options.timeout, 10) * 1000;
    const pool = pools.get(url.origin) ?? openConnections(url, { ...options, timeout });
    pools.set(url.origin, pool);
    return pool;
  };

  const download: Download = async (address, take) => {
    let url = urlFrom(address, base);
    let isHome = true;
    for (let redirects = 0; ; redirects++) {
      isHome &&= url.origin === base.origin; // stays false once a redirect leaves the origin
      const answer = await request(url, isHome);
      try {
        const next = redirectFrom(answer, url);
        if (!next) return await take(fileFrom(answer, url));
        if (redirects === mostRedirects) throw new SkipError(`GET ${url.origin}: more than ${mostRedirects} redirects`);
        url = next;
      } finally {
        answer.body.destroy(); // closes the connection if part of the body is unread
      }
    }
  };

  async function request(url: URL, isHome: boolean) {
    await client.turn();
    options.progress.sent++;
    const headers = {
      ...(isHome ? { authorization: `Bearer ${options.key}` } : {}),
      accept: "*/*",
      "accept-encoding": "identity", // a compressed file would not match the size that the service reports
      "user-agent": `${tool.name}/${tool.version}`,
    };
    const path = url.pathname + url.search;
    const { signal } = client;
    const silence = options.timeout * 1000;
    const limits = { headersTimeout: silence, bodyTimeout: silence, signal };
    try {
      const { dispatcher } = poolFor(url);
      const sent = dispatcher.request({ origin: url.origin, method: "GET", path, headers, ...limits });
      const answer = await unlessAborted(sent, signal);
      options.progress.answered++;
      answer.body.on("error", () => {}); // the reader gets the error too; after a redirect there is no reader
      const error = answerError(answer, url);
      if (error) answer.body.destroy();
      if (error) throw error;
      return answer;
    } catch (error) {
      throw failure(error, url);
    }
  }

  function fileFrom({ headers, body }: Awaited<ReturnType<typeof request>>, url: URL): IncomingFile {
    // Another stream keeps the received data, because a stream drops unread data when its connection breaks. A file with a
    // wrong Content-Length would be lost although all of it arrived.
    const received = new PassThrough({ highWaterMark: mostWaiting });
    let reason: unknown;
    body.on("error", (error) => {
      reason = error;
    });
    body.on("close", () => {
      if (!body.readableEnded) reason ??= new Error("the connection was closed");
      received.end();
    });
    body.pipe(received, { end: false });
    async function* pieces() {
      for await (const piece of received) {
        options.progress.bytes += piece.length;
        yield piece;
      }
      if (reason !== undefined) throw failure(reason, url);
    }
    const length = String(headers["content-length"] ?? "");
    return { announced: /^\d{1,15}$/.test(length) ? Number(length) : null, pieces: pieces() };
  }

  /** The error to throw when a download fails. It makes sure that no answer of a file store ends the run. */
  function failure(error: unknown, { origin }: URL): Error {
    client.signal.throwIfAborted();
    if (error instanceof SkipError) return error;
    const isSilent = error instanceof Error && "code" in error && timeouts.has(error.code);
    const silence = Object.assign(new Error(`nothing came for ${options.timeout} s`), { code: "TIMEOUT" });
    const failed = failedRequest(isSilent ? silence : error, origin, { names: options.names });
    return failed instanceof StopError ? new SkipError(failed.message) : failed;
  }

  return {
    download,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function urlFrom(address: string, base: URL): URL {
  const url = fileUrl(address, base);
  if (!url) throw new SkipError("the address of the file is not an http or https URL");
  return url;
}

/** The status and headers of undici's answer. */
interface Headed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** The error for an answer; undefined for a file or a redirect. The body is not shown, because it may hold a signature. */
function answerError({ statusCode: status, headers }: Headed, { origin }: URL): RetryError | SkipError | undefined {
  if (redirects.has(status)) return undefined;
  if (isTransient(status))
    return new RetryError(`GET ${origin}: ${status}`, { status, retryAfter: retryAfter(headers["retry-after"]) });
  if (status !== 200) return new SkipError(`GET ${origin}: ${status}`, { status });
  const encoding = String(headers["content-encoding"] ?? "identity").trim();
  if (/^(identity)?$/i.test(encoding)) return undefined;
  return new SkipError(`GET ${origin}: the file arrived compressed, which was not requested`, { status });
}

/** Resolves an address against another URL; undefined unless it is http or https. */
export function fileUrl(address: string, base: URL): URL | undefined {
  const url = address !== "" && URL.canParse(address, base.href) ? new URL(address, base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The target of a redirect; undefined for any other answer. Throws SkipError if it is not http or https. */
function redirectFrom({ statusCode: status, headers: { location } }: Headed, from: URL): URL | undefined {
  if (!redirects.has(status)) return undefined;
  const [address = ""] = [location].flat();
  const url = fileUrl(address, from);
  if (url) return url;
  throw new SkipError(`GET ${from.origin}: redirected to an address that is not an http or https URL`, { status });
}
