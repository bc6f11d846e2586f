import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import pLimit, { type LimitFunction } from "p-limit";
import type { FormData } from "undici";
import { RetryError } from "../errors.js";
import { tool } from "../tool.js";
import type { Connections, ServiceOptions } from "./connections.js";
import { failedRequest, jobFileNames } from "./failed-request.js";
import { LongBodies, long, type Received, Receiving } from "./receive.js";
import type { Answer } from "./retry.js";

/** One request to send. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, relative to the base URL. */
  readonly target: string;
  /** JSON text, or a multipart form, which sets its own content type; absent: no body. */
  readonly body?: string | FormData | undefined;
  /** Called once a connection is open, right before the first byte is sent. If it throws, nothing is sent. */
  readonly onStart?: () => void;
}

export interface ExchangeOptions extends ServiceOptions {
  /** Maximum seconds for one request, from its start to the last byte of the answer. */
  readonly timeout: number;
  /** Seconds to wait for the first byte of an answer. Undefined (the default): only `timeout` applies. */
  readonly silence?: () => number | undefined;
  /** Maximum bytes of one body, both as received and decompressed. */
  readonly maxBody: number;
  /** Aborting it ends every request. */
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

const unwrap = promisify(inflate);
const unwrapRaw = promisify(inflateRaw);

/**
 * Decompresses a body with `content-encoding: deflate`. That means zlib format, whose first byte ends in 8, but some services
 * send raw deflate data.
 */
async function inflateAny(bytes: Buffer, options: ZlibOptions): Promise<Buffer> {
  return (bytes.readUInt8() & 15) === 8 ? unwrap(bytes, options) : unwrapRaw(bytes, options);
}

const decompressors = new Map<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", inflateAny],
  ["br", promisify(brotliDecompress)],
]);

/**
 * Returns a function that sends one request and reads its answer, with a deadline and a limit on the size of the body. It
 * follows no redirects. It resolves and rejects as `Send` does.
 */
export function exchangeWith(options: ExchangeOptions) {
  const { key, timeout, maxBody, signal, names = jobFileNames } = options;
  const { origin, pathname } = new URL(options.baseUrl);
  const prefix = pathname.replace(/\/$/, "");
  const usual = {
    authorization: `Bearer ${key}`,
    accept: "application/json",
    "accept-encoding": "gzip, deflate, br",
    "cache-control": "no-cache", // a cached page may be older than an edit, which would break the proof
    "user-agent": `${tool.name}/${tool.version}`,
  };
  const tooLong = `is longer than ${maxBody / 1_000_000} MB${names.maxBody === null ? "" : `, the limit set by ${names.maxBody}`}`;
  // An array, not a Set: when a Set grows, its old hash table links to the new one, and so to all later answers. Once V8 moves
  // such a table to the old generation, all answers stay in memory until the next full collection: about 40 MB after 20,000 answers.
  const underWay: Receiving[] = [];
  const longBodies = new LongBodies(maxBody);
  const oneByOne = pLimit(1);
  signal.addEventListener("abort", () => {
    for (const one of underWay) one.end(signal.reason);
  });
  return async ({ method, target, body, onStart }: Outgoing, { dispatcher, proxy }: Connections): Promise<Answer> => {
    signal.throwIfAborted();
    const path = prefix + target;
    const url = origin + path;
    const headers = typeof body === "string" ? { ...usual, "content-type": "application/json" } : usual;
    /** The error for an unreadable body. It has the status of the answer, because any answer shows that the service is up. */
    const unreadable = (flaw: string, trouble?: "too large") =>
      new RetryError(`${method} ${url}: the body ${flaw}`, { status: receiving.status, trouble });
    let length = 0;
    const onPiece = (piece: Buffer) => {
      length += piece.length;
      silent?.refresh();
      options.onBytes(piece.length);
      if (length > maxBody) throw unreadable(tooLong, "too large");
    };
    const receiving = new Receiving({ onPiece, onStart, longBodies });
    dispatcher.dispatch({ origin, method, path, headers, ...(body === undefined ? {} : { body }) }, receiving);
    let isLate = false;
    const endAfter = (seconds: number, code: string, text: string) =>
      setTimeout(() => {
        isLate = true;
        receiving.end(Object.assign(new Error(`${text} ${seconds} s`), { code }));
      }, seconds * 1000);
    const silence = options.silence?.();
    const silent = silence === undefined ? undefined : endAfter(silence, "SILENCE", "no answer within");
    const timer = endAfter(timeout, "TIMEOUT", "no complete answer within");
    underWay.push(receiving);
    try {
      const received = await receiving.answer;
      const bytes = await decompressed(received, maxBody, oneByOne, unreadable);
      if (!bytes) throw unreadable(tooLong, "too large");
      return { url, status: received.status, headers: received.headers, body: bytes };
    } catch (error) {
      signal.throwIfAborted();
      const status = isLate || receiving.status === 0 ? undefined : receiving.status;
      throw failedRequest(error, url, { method, status, proxy: proxy(), names });
    } finally {
      clearTimeout(timer);
      clearTimeout(silent);
      underWay.splice(underWay.indexOf(receiving), 1);
    }
  };
}

/** Decompresses the body of an answer; undefined if it is too long. Decompresses long bodies one at a time to save memory. */
async function decompressed(
  { pieces, headers }: Received,
  maxBody: number,
  oneByOne: LimitFunction,
  unreadable: (flaw: string) => RetryError,
): Promise<Uint8Array | undefined> {
  const [first] = pieces;
  const bytes = pieces.length === 1 && first ? first : Buffer.concat(pieces);
  const encoding = String(headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  if (encoding === "identity" || bytes.length === 0) return bytes;
  const decompress = decompressors.get(encoding);
  if (!decompress) throw unreadable(`has the unknown encoding ${JSON.stringify(encoding.slice(0, 40))}`);
  const upTo = (maxOutputLength: number) =>
    decompress(bytes, { maxOutputLength }).catch((error: unknown) => {
      if (error instanceof RangeError) return undefined;
      throw unreadable(`is broken ${encoding}`);
    });
  return (await upTo(Math.min(long, maxBody))) ?? (await oneByOne(() => upTo(maxBody)));
}
