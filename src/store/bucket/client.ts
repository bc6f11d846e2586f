import { setMaxListeners } from "node:events";
import { createRequire } from "node:module";
import { UsageError } from "../../errors.js";
import { type BucketPrefix, homeFolder, urlOfPrefix, wholeKey } from "../../job/s3-url.js";
import { bucketError } from "./bucket-error.js";
import { openRequestHandler } from "./request-handler.js";

/** Options for the client of a bucket. */
export interface ClientOptions {
  /** Source of credentials, region, endpoint and proxies, in the usual AWS variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborting it ends every request. */
  readonly signal: AbortSignal;
}

/** The SDK's client of one bucket. */
export interface S3 {
  /** @internal Not part of the public types, because users of the library need not have the AWS SDK. */
  readonly client: InstanceType<Sdk["S3"]>;
  readonly location: BucketPrefix;
  readonly signal: AbortSignal;
  /** The members of a request that name the object. */
  readonly at: (key: string) => { readonly Bucket: string; readonly Key: string };
  /** Runs `request`. If it fails, rejects with an error that names the failed action, the key and a remedy. */
  readonly ask: <T>(what: string, key: string, request: () => Promise<T>) => Promise<T>;
}

/**
 * Opens the client of a bucket. Takes credentials, region and endpoint from `env`, or else from the SDK's sources: profile,
 * container, machine. Sends no request. Throws UsageError if the SDK is not installed or the endpoint is not a URL.
 */
export async function openClient(location: BucketPrefix, { env, signal }: ClientOptions): Promise<S3> {
  const sdk = loadSdk();
  process.env.HOME ??= homeFolder() ?? "/"; // the SDK looks for profiles there, and fails for a user without a home
  setMaxListeners(0, signal); // every running request listens
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  const profile = env.AWS_PROFILE || undefined;
  const endpoint = endpointFrom(env);
  const sessionToken = AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {};
  const client = new sdk.S3({
    ...(profile ? { profile } : {}),
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey, ...sessionToken } } : {}),
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || (() => regionOfProfile(sdk, profile)),
    retryMode: "standard",
    expectContinueHeader: false, // undici cannot wait for an answer before it sends the body
    requestHandler: openRequestHandler(env, signal),
  });
  return {
    client,
    location,
    signal,
    at: (key) => ({ Bucket: location.bucket, Key: wholeKey(location, key) }),
    ask: async (what, key, request) => {
      signal.throwIfAborted();
      try {
        return await request();
      } catch (error) {
        signal.throwIfAborted();
        throw bucketError(error, `cannot ${what} ${urlOfPrefix(location, key)}`, env);
      }
    },
  };
}

/** The address of a store other than AWS. If it is invalid, the error names only the variable, because the value may contain a password. */
function endpointFrom(env: NodeJS.ProcessEnv): string | undefined {
  const name = env.AWS_ENDPOINT_URL_S3 ? "AWS_ENDPOINT_URL_S3" : "AWS_ENDPOINT_URL";
  const endpoint = env[name] || undefined;
  if (endpoint !== undefined && !(/^https?:\/\//i.test(endpoint) && URL.canParse(endpoint)))
    throw new UsageError(`${name} is not an address of a store: expected a URL such as https://minio.example.com`, []);
  return endpoint;
}

/** The region of the profile, or us-east-1, which stores other than AWS accept. */
async function regionOfProfile(sdk: Sdk, profile: string | undefined): Promise<string> {
  const { config } = new sdk.S3(profile ? { profile } : {});
  return config.region().catch(() => "us-east-1");
}

/** @internal */
type Sdk = typeof import("@aws-sdk/client-s3");

const require = createRequire(import.meta.url);

/**
 * Loads the AWS SDK. kbdump does not install it: it has 20 MB, and few users need a bucket. `import` would take 40 ms longer. Throws
 * UsageError if it is not installed.
 */
function loadSdk(): Sdk {
  try {
    return require("@aws-sdk/client-s3");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      "A bucket needs the AWS SDK, which is not installed. Run npm install @aws-sdk/client-s3 in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global @aws-sdk/client-s3",
      [],
    );
  }
}
