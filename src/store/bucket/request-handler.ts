import { Readable } from "node:stream";
import { type Connections, openConnections, unlessAborted } from "../../client/connections.js";
import { failedRequest, type SettingNames } from "../../client/failed-request.js";
import { RetryError } from "../../errors.js";

/**
 * Opens the handler that sends requests of the AWS SDK with the same proxies and certificate checks as requests to the service. The
 * SDK gets only complete answers. A request without one rejects with a RetryError, and the SDK retries it. Requests to localhost
 * use no proxy.
 */
export function openRequestHandler(env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const open = new Map<string, Connections>();
  const connectionsFor = (url: URL): Connections => {
    const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
    const usual = { connections: 16, timeout: patience.connect, caFile: env.AWS_CA_BUNDLE, names: bucketNames };
    const connections = open.get(url.origin) ?? openConnections(url, { ...usual, env: isHere ? {} : env });
    open.set(url.origin, connections);
    return connections;
  };
  return {
    metadata: { handlerProtocol: "http/1.1" },
    handle: async (request: Outgoing, { abortSignal }: { readonly abortSignal?: unknown } = {}) => {
      const url = urlOf(request);
      const connections = connectionsFor(url);
      const ends = AbortSignal.any([signal, ...(abortSignal instanceof AbortSignal ? [abortSignal] : [])]);
      try {
        return await send(request, url, connections, ends);
      } catch (error) {
        ends.throwIfAborted();
        const failed = failedRequest(error, url.origin + url.pathname, {
          method: request.method,
          proxy: connections.proxy(),
          names: bucketNames,
        });
        throw failed instanceof RetryError ? Object.assign(failed, { $retryable: {} }) : failed; // the SDK's own mark
      }
    },
    destroy: () => {
      for (const { dispatcher } of open.values()) void dispatcher.destroy();
      open.clear();
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
  };
}

/** A signed request from the SDK. */
interface Outgoing {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Variable names for messages about connections. */
const bucketNames: SettingNames = {
  baseUrl: "AWS_ENDPOINT_URL_S3",
  caFile: "AWS_CA_BUNDLE",
  concurrency: "AWS_MAX_ATTEMPTS",
  maxBody: null,
  outage: null,
};

/** Milliseconds to wait for a connection, and for progress in either direction. */
const patience = { connect: 10_000, progress: 60_000 };

/** Bytes passed to the connection at once. Each slice that is sent counts as progress. */
const slice = 64 * 1024;

/**
 * Maximum bytes of an answer that undici receives without a pause: more than any request here asks for. If a server closes the
 * connection during a pause, undici 7 crashes the process (assert(!this.paused)).
 */
const mostBody = 64 * 1024 * 1024;

function urlOf({ protocol, hostname, port, path, query }: Outgoing): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`);
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value].flat().map((one: string | null) => (one === null ? encoded(name) : `${encoded(name)}=${encoded(one)}`)),
  );
  url.search = pairs.join("&");
  return url;
}

/** Encodes as required by AWS signatures: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The name under which the SDK passes on the Date header of an answer, as if it were metadata of the object. */
export const dateOfAnswer = "date-of-answer";

async function send({ method, headers, body }: Outgoing, url: URL, { dispatcher }: Connections, signal: AbortSignal) {
  const sent = dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: method as "GET",
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host")),
    body: bodyOf(body),
    signal,
    headersTimeout: patience.progress,
    bodyTimeout: patience.progress,
    highWaterMark: mostBody,
  });
  const answer = await unlessAborted(sent, signal);
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const answered = { ...answer.headers, [`x-amz-meta-${dateOfAnswer}`]: answer.headers.date };
  const received = Object.entries(answered).map(([name, value]) => [name, [value].flat().join(", ")]);
  return {
    response: { statusCode: answer.statusCode, headers: Object.fromEntries(received), body: Readable.from([bytes]) },
  };
}

function bodyOf(body: unknown): string | Readable | null {
  if (body instanceof Uint8Array) return body.length === 0 ? "" : Readable.from(slices(body));
  return typeof body === "string" || body instanceof Readable ? body : null;
}

function* slices(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let start = 0; start < bytes.length; start += slice) yield bytes.subarray(start, start + slice);
}
