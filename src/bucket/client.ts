import { setMaxListeners } from "node:events";
import { UsageError } from "../errors.js";
import { bucketError } from "./bucket-error.js";
import type { ClientOptions } from "./client-options.js";
import { homeFolder } from "./home-folder.js";
import { loadSdk, type Sdk, type SdkClient } from "./load-sdk.js";
import { requestHandlerFor } from "./request-handler.js";
import { type BucketPlace, urlOfPlace, wholeKey } from "./s3-url.js";

/** The SDK's client of one bucket. */
export interface S3 {
  readonly sdk: Sdk;
  readonly client: SdkClient;
  readonly place: BucketPlace;
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
export async function openClient(place: BucketPlace, { env, signal }: ClientOptions): Promise<S3> {
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
    place,
    signal,
    at: (key) => ({ Bucket: place.bucket, Key: wholeKey(place, key) }),
    ask: async (what, key, request) => {
      signal.throwIfAborted();
      try {
        return await request();
      } catch (error) {
        throw bucketError(error, { what, url: urlOfPlace(place, key), env, signal });
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
