import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
import { type Connections, openConnections, unlessAborted } from "../../client/connections.js";
import { failedRequest, type SettingNames } from "../../client/failed-request.js";
import { RetryError, UsageError } from "../../errors.js";
import { type BucketPrefix, homeFolder, urlOfPrefix, wholeKey } from "../../job/s3-url.js";

import { bucketError, type ClientOptions } from "./bucket.js";

/** The SDK's client of one bucket. */
export interface S3 {
  readonly sdk: Sdk;
  readonly client: SdkClient;
  readonly location: BucketPrefix;
  readonly signal: AbortSignal;
  /** The members of a request that name an object. */
  readonly at: (key: string) => { readonly Bucket: string; readonly Key: string };
  /** Settles like the request; rejects with an error that says what cannot be done, to which key, and what to do. */
  readonly ask: <T>(what: string, key: string, request: () => Promise<T>) => Promise<T>;
}

/**
 * Opens the client of a bucket. Credentials, region and endpoint come from `env`; those that it does not name come from where the SDK
 * looks for them: the profile, the container, the machine. No request is sent. UsageError where the SDK is not installed, or the endpoint is
 * no URL.
 */
export async function openClient(location: BucketPrefix, { env, signal }: ClientOptions): Promise<S3> {
  const sdk = await loadSdk();
  process.env.HOME ??= homeFolder() ?? "/"; // the SDK looks for profiles there, and fails where a user has no home
  setMaxListeners(0, signal); // every request under way listens
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  const profile = env.AWS_PROFILE || undefined;
  const endpoint = endpointFrom(env);
  const client = new sdk.S3Client({
    ...(profile ? { profile } : {}),
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(accessKeyId && secretAccessKey
      ? {
          credentials: {
            accessKeyId,
            secretAccessKey,
            ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
          },
        }
      : {}),
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || (() => regionOfProfile(sdk, profile)),
    retryMode: "standard",
    expectContinueHeader: false, // undici cannot wait for an answer before it sends the body
    requestHandler: requestHandlerFor(env, signal),
  });
  return {
    sdk,
    client,
    location,
    signal,
    at: (key) => ({ Bucket: location.bucket, Key: wholeKey(location, key) }),
    ask: async (what, key, request) => {
      signal.throwIfAborted();
      try {
        return await request();
      } catch (error) {
        throw bucketError(error, { what, url: urlOfPrefix(location, key), env, signal });
      }
    },
  };
}

/** The address of a store other than AWS. Only its variable is named where it is wrong, as it may hold a password. */
function endpointFrom(env: NodeJS.ProcessEnv): string | undefined {
  const name = env.AWS_ENDPOINT_URL_S3 ? "AWS_ENDPOINT_URL_S3" : "AWS_ENDPOINT_URL";
  const endpoint = env[name] || undefined;
  if (endpoint !== undefined && !(/^https?:\/\//i.test(endpoint) && URL.canParse(endpoint)))
    throw new UsageError(`${name} is no address of a store: expected a URL such as https://minio.example.com`, []);
  return endpoint;
}

/** The region of the profile; us-east-1 where it names none, which stores other than AWS take. */
async function regionOfProfile(sdk: Sdk, profile: string | undefined): Promise<string> {
  const { config } = new sdk.S3Client(profile ? { profile } : {});
  return config.region().catch(() => "us-east-1");
}

type Sdk = typeof import("@aws-sdk/client-s3");
type SdkClient = InstanceType<Sdk["S3Client"]>;

/** The AWS SDK, which kbdump does not bring along: few need a bucket, and it weighs 20 MB. UsageError where it is not installed. */
async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      "A bucket needs the AWS SDK, which is not installed. Run npm install @aws-sdk/client-s3 in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global @aws-sdk/client-s3",
      [],
    );
  }
}

/** A request as the SDK hands it over, signed. */
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

/** An answer as the SDK takes it. */
interface Incoming {
  readonly response: { statusCode: number; headers: Record<string, string>; body: Readable };
}

/** The port of the SDK for whatever sends its requests. */
interface Handler {
  readonly handle: (request: Outgoing, options?: { readonly abortSignal?: unknown }) => Promise<Incoming>;
  readonly destroy: () => void;
  readonly metadata: { readonly handlerProtocol: string };
  readonly updateHttpClientConfig: () => void;
  readonly httpHandlerConfigs: () => object;
}

/** The variables that messages about a connection name. */
const bucketNames: SettingNames = {
  baseUrl: "AWS_ENDPOINT_URL_S3",
  caFile: "AWS_CA_BUNDLE",
  concurrency: "AWS_MAX_ATTEMPTS",
  maxBody: null,
  outage: null,
};

/** Milliseconds until a connection must be there, and the longest time without a byte in either direction. */
const patience = { connect: 10_000, progress: 60_000 };

/** Bytes that are handed to the connection at once: each of them that leaves counts as progress. */
const slice = 64 * 1024;

/**
 * Bytes of an answer that undici takes without a pause: more than any request here asks for. A server that ends the connection during
 * a pause would end the process (assert(!this.paused) in undici 7).
 */
const mostBody = 64 * 1024 * 1024;

/**
 * Sends the requests of the SDK over connections like those to the service: the same proxies, the same check of certificates. Answers
 * are read whole before the SDK sees them; a request that got none, or a part of one, rejects with a RetryError, and the SDK sends it
 * again. A host that is this machine needs no proxy.
 */
function requestHandlerFor(env: NodeJS.ProcessEnv, signal: AbortSignal, limits = patience): Handler {
  const open = new Map<string, Connections>();
  const connectionsFor = (url: URL): Connections => {
    const connections = open.get(url.origin) ?? openConnections(url, connectionOptions(url, env, limits.connect));
    open.set(url.origin, connections);
    return connections;
  };
  const close = () => {
    for (const { dispatcher } of open.values()) void dispatcher.destroy();
    open.clear();
  };
  return {
    metadata: { handlerProtocol: "http/1.1" },
    handle: async (request, { abortSignal } = {}) => {
      const url = urlOf(request);
      const connections = connectionsFor(url);
      const ends = AbortSignal.any([signal, ...(abortSignal instanceof AbortSignal ? [abortSignal] : [])]);
      try {
        return await send(request, url, connections, ends, limits.progress);
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
    destroy: close,
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
  };
}

function connectionOptions({ hostname }: URL, env: NodeJS.ProcessEnv, timeout: number) {
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return { connections: 16, timeout, caFile: env.AWS_CA_BUNDLE, env: isHere ? {} : env, names: bucketNames };
}

function urlOf({ protocol, hostname, port, path, query }: Outgoing): URL {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}`);
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value].flat().map((one: string | null) => (one === null ? encoded(name) : `${encoded(name)}=${encoded(one)}`)),
  );
  url.search = pairs.join("&");
  return url;
}

/** As the signature of AWS wants it: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

async function send(
  { method, headers, body }: Outgoing,
  url: URL,
  { dispatcher }: Connections,
  signal: AbortSignal,
  progress: number,
): Promise<Incoming> {
  const sent = dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: method as "GET",
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host")),
    body: bodyOf(body),
    signal,
    headersTimeout: progress,
    bodyTimeout: progress,
    highWaterMark: mostBody,
  });
  const answer = await unlessAborted(sent, signal);
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const received = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(", ")]);
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
