import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import type { Dispatcher } from "undici";
import { RetryError } from "../errors.js";
import { tool } from "../tool.js";
import { openConnections, unlessAborted } from "./connections.js";
import { failedRequest } from "./failed-request.js";
import { type Answer, type Request, type Send, targetOf } from "./send.js";
import { speaksTls } from "./speaks-tls.js";

export interface HttpOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** Connections held open at the most. */
  readonly connections: number;
  /** Seconds for one request, from its start to the last byte. */
  readonly timeout: number;
  /** Bytes of one body at the most, as received and decompressed. */
  readonly maxBody: number;
  /** PEM file of certificates trusted beside the usual ones. */
  readonly caFile: string | undefined;
  /** Names the proxies; none where it is left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends every request. */
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

const unwrap = promisify(inflate);
const unwrapRaw = promisify(inflateRaw);

/** "deflate" is the format of zlib, whose first byte ends in 8; some services send it without that wrapping. */
async function inflateAny(bytes: Buffer, options: ZlibOptions): Promise<Buffer> {
  return (bytes.readUInt8() & 15) === 8 ? unwrap(bytes, options) : unwrapRaw(bytes, options);
}

const decompressors = new Map<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", inflateAny],
  ["br", promisify(brotliDecompress)],
]);

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
  const prefix = base.pathname.replace(/\/$/, "");
  const { caFile, env = {} } = options;
  const timeout = Math.min(options.timeout, 20) * 1000;
  const poolOf = (connections: number) => openConnections(base, { connections, timeout, caFile, env });
  let pool = poolOf(options.connections);
  let connections = options.connections;
  const pools = new Set([pool]);
  const headers = {
    authorization: `Bearer ${options.key}`,
    accept: "application/json",
    "accept-encoding": "gzip, deflate, br",
    "cache-control": "no-cache", // a page that a cache kept from before an edit defeats every proof
    "user-agent": `${tool.name}/${tool.version}`,
  };

  async function send(request: Request): Promise<Answer> {
    options.signal.throwIfAborted();
    const path = prefix + targetOf(request);
    const url = base.origin + path;
    const deadline = new AbortController();
    const end = () => deadline.abort(options.signal.reason);
    const timer = setTimeout(() => deadline.abort(new TimeoutError(options.timeout)), options.timeout * 1000);
    options.signal.addEventListener("abort", end, { once: true });
    const { dispatcher, proxy } = pool;
    let status: number | undefined;
    try {
      const { signal } = deadline;
      const sent = dispatcher.request({ origin: base.origin, method: "GET", path, headers, signal });
      const answer = await unlessAborted(sent, signal);
      status = answer.statusCode;
      const body = await readBody(answer, url, options);
      return { url, status: answer.statusCode, headers: answer.headers, body };
    } catch (error) {
      options.signal.throwIfAborted();
      throw failedRequest(error, url, deadline.signal.aborted ? undefined : status, proxy());
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", end);
    }
  }

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

class TimeoutError extends Error {
  readonly code = "TIMEOUT";
  constructor(seconds: number) {
    super(`no complete answer within ${seconds} s`);
  }
}

async function readBody(answer: Dispatcher.ResponseData, url: string, options: HttpOptions): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    options.onBytes(chunk.length);
    if (length > options.maxBody) throw tooLong(answer, url, options.maxBody);
    chunks.push(chunk);
  }
  const encoding = String(answer.headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  const [first] = chunks;
  const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks, length);
  if (encoding === "identity" || length === 0) return bytes;
  const decompress = decompressors.get(encoding);
  if (!decompress) throw unreadable(answer, url, `has the unknown encoding ${JSON.stringify(encoding.slice(0, 40))}`);
  return decompress(bytes, { maxOutputLength: options.maxBody }).catch((error: unknown) => {
    throw error instanceof RangeError
      ? tooLong(answer, url, options.maxBody)
      : unreadable(answer, url, `is broken ${encoding}`);
  });
}

function tooLong(answer: Dispatcher.ResponseData, url: string, maxBody: number): RetryError {
  const what = `is longer than ${maxBody / 1_000_000} MB; service.max_body sets the bound`;
  return unreadable(answer, url, what, "too large");
}

/** With the status, as an answer came: the service is there. */
function unreadable({ statusCode: status }: Dispatcher.ResponseData, url: string, what: string, trouble?: "too large") {
  return new RetryError(`GET ${url}: the body ${what}`, { status, ...(trouble ? { trouble } : {}) });
}
