import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { type Dispatcher, Pool } from "undici";
import { RetryError, UsageError } from "../errors.js";
import { failedRequest } from "./failed-request.js";
import { type Answer, type Request, type Send, targetOf } from "./send.js";

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
  /** Ends every request. */
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

const decompressors = new Map([
  ["gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

/** Opens the pool of connections. Only GET is ever sent, redirects are not followed, certificates always checked. */
export function openHttp(options: HttpOptions): { send: Send; close: () => Promise<void> } {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  const pool = new Pool(base.origin, {
    connections: options.connections,
    headersTimeout: options.timeout * 1000,
    bodyTimeout: options.timeout * 1000,
    connect: { timeout: Math.min(options.timeout, 20) * 1000, ...(options.caFile ? { ca: trusted(options.caFile) } : {}) },
  });
  const headers = { authorization: `Bearer ${options.key}`, accept: "application/json", "accept-encoding": "gzip, deflate, br" };

  async function send(request: Request): Promise<Answer> {
    options.signal.throwIfAborted();
    const path = prefix + targetOf(request);
    const url = base.origin + path;
    const deadline = new AbortController();
    const end = () => deadline.abort(options.signal.reason);
    const timer = setTimeout(() => deadline.abort(new TimeoutError(options.timeout)), options.timeout * 1000);
    options.signal.addEventListener("abort", end, { once: true });
    try {
      const answer = await pool.request({ method: "GET", path, headers, signal: deadline.signal });
      const body = await readBody(answer, url, options);
      return { url, status: answer.statusCode, headers: answer.headers, body };
    } catch (error) {
      options.signal.throwIfAborted();
      throw failedRequest(error, url);
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", end);
    }
  }
  return { send, close: () => pool.destroy() };
}

class TimeoutError extends Error {
  readonly code = "TIMEOUT";
  constructor(seconds: number) {
    super(`no complete answer within ${seconds} s`);
  }
}

async function readBody(answer: Dispatcher.ResponseData, url: string, options: HttpOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    options.onBytes(chunk.length);
    if (length > options.maxBody) throw tooLong(url, options.maxBody);
    chunks.push(chunk);
  }
  const encoding = String(answer.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const [first] = chunks;
  const bytes = chunks.length === 1 && first ? first : Buffer.concat(chunks, length);
  if (encoding === "identity" || length === 0) return bytes;
  const decompress = decompressors.get(encoding === "x-gzip" ? "gzip" : encoding);
  if (!decompress) throw new RetryError(`GET ${url}: the body has the unknown encoding ${JSON.stringify(encoding.slice(0, 40))}`);
  return decompress(bytes, { maxOutputLength: options.maxBody }).catch((error: unknown) => {
    if (error instanceof RangeError) throw tooLong(url, options.maxBody);
    throw new RetryError(`GET ${url}: the ${encoding} body is broken`, { cause: error });
  });
}

function tooLong(url: string, maxBody: number): RetryError {
  return new RetryError(`GET ${url}: the body is longer than ${maxBody / 1_000_000} MB; service.max_body sets the bound`);
}

function trusted(caFile: string): string[] {
  try {
    return [...rootCertificates, readFileSync(caFile, "utf8")];
  } catch {
    throw new UsageError("The job cannot run:", [{ path: "service.ca_file", message: `cannot read ${caFile}` }]);
  }
}
