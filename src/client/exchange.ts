import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import type { Dispatcher, FormData } from "undici";
import { RetryError } from "../errors.js";
import { tool } from "../tool.js";
import { type Connections, unlessAborted } from "./connections.js";
import { failedRequest } from "./failed-request.js";
import { jobFileNames, type SettingNames } from "./hint-for.js";
import type { Answer } from "./send.js";

/** One request as it goes over the wire. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query behind the base URL. */
  readonly target: string;
  /** JSON text, or a multipart form, which names its own content type; none where it is left out. */
  readonly body?: string | FormData;
}

export interface ExchangeOptions {
  readonly baseUrl: string;
  readonly key: string;
  /** Seconds for one request, from its start to the last byte. */
  readonly timeout: number;
  /** Bytes of one body at the most, as received and decompressed. */
  readonly maxBody: number;
  /** Ends every request. */
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
  /** The names of settings in messages; those of the job file by default. */
  readonly names?: SettingNames | undefined;
}

/** Sends one request over these connections. Resolves and rejects as `Send` does. */
export type Exchange = (outgoing: Outgoing, connections: Connections) => Promise<Answer>;

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

/** Makes what one request and its answer are: the headers, the deadline, the body within its bound. Redirects are not followed. */
export function exchangeWith(options: ExchangeOptions): Exchange {
  const { origin, pathname } = new URL(options.baseUrl);
  const prefix = pathname.replace(/\/$/, "");
  const usual = {
    authorization: `Bearer ${options.key}`,
    accept: "application/json",
    "accept-encoding": "gzip, deflate, br",
    "cache-control": "no-cache", // a page that a cache kept from before an edit defeats every proof
    "user-agent": `${tool.name}/${tool.version}`,
  };
  return async ({ method, target, body }, { dispatcher, proxy }) => {
    options.signal.throwIfAborted();
    const path = prefix + target;
    const url = origin + path;
    const headers = typeof body === "string" ? { ...usual, "content-type": "application/json" } : usual;
    const deadline = new AbortController();
    const end = () => deadline.abort(options.signal.reason);
    const timer = setTimeout(() => deadline.abort(new TimeoutError(options.timeout)), options.timeout * 1000);
    options.signal.addEventListener("abort", end, { once: true });
    let status: number | undefined;
    try {
      const { signal } = deadline;
      const sent = dispatcher.request({
        origin,
        method,
        path,
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      const answer = await unlessAborted(sent, signal);
      status = answer.statusCode;
      const bytes = await readBody(answer, `${method} ${url}`, options);
      return { url, status: answer.statusCode, headers: answer.headers, body: bytes };
    } catch (error) {
      options.signal.throwIfAborted();
      const proxyUsed = proxy();
      throw failedRequest(error, url, {
        method,
        status: deadline.signal.aborted ? undefined : status,
        proxy: proxyUsed,
        names: options.names,
      });
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", end);
    }
  };
}

class TimeoutError extends Error {
  readonly code = "TIMEOUT";
  constructor(seconds: number) {
    super(`no complete answer within ${seconds} s`);
  }
}

async function readBody(answer: Dispatcher.ResponseData, what: string, options: ExchangeOptions): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    options.onBytes(chunk.length);
    if (length > options.maxBody) throw tooLong(answer, what, options);
    chunks.push(chunk);
  }
  const encoding = String(answer.headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  const [first] = chunks;
  const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks, length);
  if (encoding === "identity" || length === 0) return bytes;
  const decompress = decompressors.get(encoding);
  if (!decompress) throw unreadable(answer, what, `has the unknown encoding ${JSON.stringify(encoding.slice(0, 40))}`);
  return decompress(bytes, { maxOutputLength: options.maxBody }).catch((error: unknown) => {
    throw error instanceof RangeError
      ? tooLong(answer, what, options)
      : unreadable(answer, what, `is broken ${encoding}`);
  });
}

function tooLong(answer: Dispatcher.ResponseData, what: string, options: ExchangeOptions): RetryError {
  const { maxBody, names = jobFileNames } = options;
  const hint = names.maxBody === null ? "" : `; ${names.maxBody} sets the bound`;
  const flaw = `is longer than ${maxBody / 1_000_000} MB${hint}`;
  return unreadable(answer, what, flaw, "too large");
}

/** With the status, as an answer came: the service is there. */
function unreadable(
  { statusCode: status }: Dispatcher.ResponseData,
  what: string,
  flaw: string,
  trouble?: "too large",
): RetryError {
  return new RetryError(`${what}: the body ${flaw}`, { status, ...(trouble ? { trouble } : {}) });
}
