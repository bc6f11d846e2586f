import type { Readable } from "node:stream";
import { RetryError, SkipError, StopError } from "../errors.js";
import { tool } from "../tool.js";
import { retryAfter } from "./check-answer.js";
import { type ConnectionOptions, type Connections, openConnections, unlessAborted } from "./connections.js";
import { failedRequest } from "./failed-request.js";
import type { Client } from "./open-client.js";
import type { RequestCounts } from "./request-counts.js";

interface DownloadOptions extends Omit<ConnectionOptions, "timeout"> {
  readonly baseUrl: string;
  /** Sent to the origin of the base URL, and nowhere else. */
  readonly key: string;
  /** Seconds without a byte after which a download is given up; a large file may take as long as it needs. */
  readonly timeout: number;
  readonly progress: RequestCounts;
}

/** A file whose first bytes are there. */
export interface IncomingFile {
  /** The bytes that Content-Length announces; null where nothing does. */
  readonly announced: number | null;
  /** Rejects with RetryError where it breaks off or falls silent. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Fetches a file from an address, which may be relative to the service or lead to a file store. One try: RetryError for what
 * may pass, SkipError for the rest. Messages name the origin alone, because the rest of an address can be a signature.
 */
export type Download = <T>(address: string, take: (file: IncomingFile) => Promise<T>) => Promise<T>;

interface Downloads {
  readonly download: Download;
  readonly close: () => Promise<void>;
}

const mostRedirects = 5;

/** Downloads are the only requests whose redirects are followed. They keep to the pace of the client, and end with it. */
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
      isHome &&= url.origin === base.origin; // never again, once a redirect has left it
      const silence = new Silence(options.timeout, client.signal);
      try {
        const answer = await request(url, isHome, silence);
        const next = redirectFrom(answer, url);
        if (!next) return await take(fileFrom(answer, url, silence));
        if (redirects === mostRedirects) throw new SkipError(`GET ${url.origin}: more than ${mostRedirects} redirects`);
        url = next;
      } finally {
        silence.end(); // and with it the connection, if something is left of the body
      }
    }
  };

  async function request(url: URL, isHome: boolean, silence: Silence) {
    await client.turn();
    options.progress.sent++;
    const headers = {
      ...(isHome ? { authorization: `Bearer ${options.key}` } : {}),
      accept: "*/*",
      "accept-encoding": "identity", // compressed, a file has another size than the service says
      "user-agent": `${tool.name}/${tool.version}`,
    };
    const path = url.pathname + url.search;
    const { signal } = silence;
    try {
      const { dispatcher } = poolFor(url);
      const sent = dispatcher.request({ origin: url.origin, method: "GET", path, headers, signal });
      const answer = await silence.during(unlessAborted(sent, signal));
      options.progress.answered++;
      answer.body.on("error", () => {}); // its reader gets the error, too; after a redirect there is none
      const error = answerError(answer, url);
      if (error) throw error;
      return answer;
    } catch (error) {
      throw failure(error, url);
    }
  }

  function fileFrom(answer: Awaited<ReturnType<typeof request>>, url: URL, silence: Silence): IncomingFile {
    const next = takePieces(answer.body);
    async function* pieces() {
      for (;;) {
        const piece = await silence.during(next()).catch((error: unknown) => {
          throw failure(error, url);
        });
        if (!piece) return;
        options.progress.bytes += piece.length;
        yield piece;
      }
    }
    const length = String(answer.headers["content-length"] ?? "");
    return { announced: /^\d{1,15}$/.test(length) ? Number(length) : null, pieces: pieces() };
  }

  /** Nothing that a file store answers ends the run. */
  function failure(error: unknown, { origin }: URL): Error {
    client.signal.throwIfAborted();
    if (error instanceof SkipError) return error;
    const failed = failedRequest(error, origin, { names: options.names });
    return failed instanceof StopError ? new SkipError(failed.message) : failed;
  }

  return {
    download,
    close: async () => {
      await Promise.all([...pools.values()].map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function urlFrom(address: string, base: URL): URL {
  const url = fileUrl(address, base);
  if (!url) throw new SkipError("the address of the file is no http or https URL");
  return url;
}

/** An answer as undici gives it, as far as it is looked at here. */
interface Headed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const transient = new Set([408, 425, 429]);
const redirects = new Set([301, 302, 303, 307, 308]);

/** The error that an answer stands for; undefined for a file and for a redirect. Its body is not shown: it can hold a signature. */
function answerError({ statusCode: status, headers }: Headed, { origin }: URL): RetryError | SkipError | undefined {
  if (redirects.has(status)) return undefined;
  if (transient.has(status) || status >= 500) {
    const after = retryAfter(headers["retry-after"]);
    return new RetryError(`GET ${origin}: ${status}`, {
      status,
      ...(after === undefined ? {} : { retryAfter: after }),
    });
  }
  if (status !== 200) return new SkipError(`GET ${origin}: ${status}`, { status });
  const encoding = String(headers["content-encoding"] ?? "identity").trim();
  if (/^(identity)?$/i.test(encoding)) return undefined;
  return new SkipError(`GET ${origin}: the file came compressed, which was not asked for`, { status });
}

/** The URL that an address is, perhaps relative to another; undefined for anything but http and https. */
export function fileUrl(address: string, base: URL): URL | undefined {
  const url = address !== "" && URL.canParse(address, base.href) ? new URL(address, base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The URL that a redirect leads to; undefined for any other answer. SkipError if it is not http or https. */
function redirectFrom({ statusCode: status, headers: { location } }: Headed, from: URL): URL | undefined {
  if (!redirects.has(status)) return undefined;
  const [address = ""] = [location].flat();
  const url = fileUrl(address, from);
  if (url) return url;
  throw new SkipError(`GET ${from.origin}: redirected to an address that is no http or https URL`, { status });
}

/** Bytes that may wait to be taken; more are left to the connection. */
const mostWaiting = 1 << 20;

/**
 * Gives the pieces of a body one after the other, then undefined. It listens from the start: a stream forgets what was not
 * taken when its connection breaks, and a file whose announced length is wrong would be lost that way, although all of it came.
 */
function takePieces(body: Readable): () => Promise<Uint8Array | undefined> {
  const waiting: Uint8Array[] = [];
  let size = 0;
  let ending: { readonly error: unknown } | undefined;
  let wake = () => {};
  const endWith = (error: unknown) => {
    ending ??= { error };
    wake();
  };
  body.on("data", (piece: Uint8Array) => {
    waiting.push(piece);
    size += piece.length;
    if (size > mostWaiting) body.pause();
    wake();
  });
  body.on("end", () => endWith(undefined));
  body.on("error", endWith);
  body.on("close", () => endWith(new Error("the connection was closed")));
  return async () => {
    for (;;) {
      const piece = waiting.shift();
      if (piece) {
        size -= piece.length;
        if (size <= mostWaiting) body.resume();
        return piece;
      }
      if (ending?.error !== undefined) throw ending.error;
      if (ending) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

/** Ends a request in which nothing comes for so many seconds, or when everything ends. */
class Silence {
  readonly #seconds: number;
  readonly #controller = new AbortController();
  readonly #all: AbortSignal;
  readonly #end = () => this.#controller.abort(this.#all.reason);

  /** `all` ends every request. */
  constructor(seconds: number, all: AbortSignal) {
    this.#seconds = seconds;
    this.#all = all;
    if (all.aborted) this.#end();
    all.addEventListener("abort", this.#end, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the next bytes; time in which none are asked for does not count. */
  async during<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#controller.abort(new SilenceError(this.#seconds)), this.#seconds * 1000);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the request, if it is not over yet. */
  end(): void {
    this.#all.removeEventListener("abort", this.#end);
    this.#controller.abort();
  }
}

class SilenceError extends Error {
  readonly code = "TIMEOUT";
  constructor(seconds: number) {
    super(`nothing came for ${seconds} s`);
  }
}
