import { plainText } from "../../client/plain-text.js";
import { RetryError, StopError, UsageError } from "../../errors.js";
import { folderOfKey, type Head } from "./head.js";

/** The state of a key in which a write takes place: nothing has the key, or the object there has this ETag. */
export type Condition = "absent" | { readonly etag: string };

/** A write took place; or the condition did not hold, and nothing was written. */
export type Written = { readonly etag: string } | "refused";

/** An object that was read whole. */
export interface Found {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Milliseconds since it was written last, by the clock of the store alone, which counts in seconds. */
  readonly age: number;
}

/** The content that a file must have; undefined: whatever it is, its SHA-256 is right. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/** The facts of an object that was not read. `sha256`: as kbdump noted it when it wrote the object. */
export interface ObjectFacts extends FileFacts {
  readonly etag: string;
}

/** The parts of a transfer that can be watched and ended. */
export interface Transfer {
  readonly signal?: AbortSignal;
  /** Called with the bytes that were transferred since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

export interface PutFileOptions extends Transfer {
  readonly sha256: string;
  readonly condition?: Condition;
}

/** A multipart upload that is neither complete nor ended. Readers never see it, and S3 charges for it. */
export interface OpenUpload {
  readonly key: string;
  readonly id: string;
}

/**
 * A place in a bucket. Keys stand below its prefix. Every method rejects with StopError or UsageError, which say what failed and what
 * to do; a request without an answer is sent again, three times in all.
 */
export interface Bucket {
  /** `s3://bucket/prefix` */
  readonly url: string;
  /** Undefined where nothing has this key. */
  readonly read: (key: string) => Promise<Found | undefined>;
  /** Looks at an object without reading it. Undefined where nothing has this key. */
  readonly look: (key: string) => Promise<ObjectFacts | undefined>;
  /** The store checks the SHA-256 of all bytes. A write whose answer was lost is reconciled by looking at what is there. */
  readonly put: (key: string, bytes: Buffer, condition?: Condition) => Promise<Written>;
  /**
   * Uploads a local file; above 16 MB in parts. The store checks the SHA-256 of each part and the list of parts, and kbdump that of
   * the whole file against `sha256` before the object appears: a file that has changed is a StopError. An upload that fails is ended.
   */
  readonly putFile: (key: string, path: string, options: PutFileOptions) => Promise<Written>;
  /** Writes an object into a new local file. DamagedError, and no file, where the object is absent or has other bytes. */
  readonly fetchFile: (key: string, path: string, facts: FileFacts, transfer?: Transfer) => Promise<void>;
  /** The keys that begin with this text, in the order of their bytes. */
  readonly list: (prefix: string) => AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  /** The names right behind this text that have keys below them, in the order of their bytes. The text is empty, or ends with a slash. */
  readonly folders: (prefix: string) => AsyncIterable<string>;
  /** Keys that are not there count as removed. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** Multipart uploads under way, or left behind, of keys that begin with this text. */
  readonly uploads: (prefix: string) => AsyncIterable<OpenUpload>;
  /** Ends a multipart upload, and frees its parts; one that is gone counts as ended. */
  readonly endUpload: (upload: OpenUpload) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How the client of a bucket is opened. */
export interface ClientOptions {
  /** Names credentials, region, endpoint and proxies, by the usual variables of AWS. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

/** The request that failed. */
interface Attempt {
  /** `read`, `write`: stands behind "cannot". */
  readonly what: string;
  /** `s3://bucket/key` */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The codes of S3 that say what to do: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied:
    "these credentials may not do that. They need s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads",
  AllAccessDisabled: "the bucket is disabled; ask who owns it",
  NoSuchBucket: "there is no such bucket. Make it, or correct its name; is AWS_ENDPOINT_URL_S3 right?",
  InvalidAccessKeyId: "the store does not know this access key. Check AWS_ACCESS_KEY_ID, or AWS_PROFILE",
  SignatureDoesNotMatch: "the secret key does not belong to the access key. Check AWS_SECRET_ACCESS_KEY",
  ExpiredToken: "the credentials have expired. Renew them, and start again",
  InvalidToken: "the session token is wrong. Check AWS_SESSION_TOKEN",
  RequestTimeTooSkewed:
    "the clock of this machine differs from that of the store by more than 15 minutes. Set the clock",
  NotImplemented: "the store does not support this request",
  SlowDown: "the store asks for fewer requests. Start again later",
  QuotaExceeded: "the bucket is full. Make room in it",
  BadDigest:
    "the bytes that arrived are not those that were sent. Start again; if it comes back, check the network and the memory",
};
const sameAs: Readonly<Record<string, string>> = {
  Forbidden: "AccessDenied",
  "403": "AccessDenied",
  XAmzContentChecksumMismatch: "BadDigest",
  XAmzContentSHA256Mismatch: "BadDigest",
  InvalidDigest: "BadDigest",
  TokenRefreshRequired: "ExpiredToken",
  RequestExpired: "RequestTimeTooSkewed",
  MethodNotAllowed: "NotImplemented",
};

const otherRegion =
  /^(PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException|301|307)$/;

/**
 * The error of a failed request in plain words: StopError, or UsageError where no credentials are found. It never
 * shows a key: texts of the store are shown without the secret.
 */
export function bucketError(error: unknown, attempt: Attempt): unknown {
  if (attempt.signal.aborted) return attempt.signal.reason;
  if (!(error instanceof Error) || error instanceof StopError || error instanceof UsageError) return error;
  const begin = `cannot ${attempt.what} ${attempt.url}`;
  if (error instanceof RetryError) return new StopError(`${begin}: ${error.message}`, { cause: error });
  if (error.name === "CredentialsProviderError" || /credential/i.test(error.name))
    return new UsageError(
      `${begin}: no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE`,
      [],
    );
  const { status, code, region } = factsOf(error);
  if (status === undefined) return new StopError(`${begin}: ${plainText(error.message, "")}`, { cause: error });
  const text = otherRegion.test(code)
    ? `the bucket is in another region. Set AWS_REGION${region === undefined ? "" : `=${region}`}`
    : (remedies[sameAs[code] ?? code] ?? unknownText(error, attempt, code, status));
  return new StopError(`${begin}: ${text} (${[code, status].filter((fact) => fact !== String(status)).join(", ")})`, {
    status,
    code,
  });
}

/** HTTP status, code and number of tries of an error of the SDK; no status: the request got no answer. */
export function factsOf(error: unknown) {
  const {
    name = "",
    $metadata,
    $response,
  } = (error ?? {}) as {
    name?: string;
    $metadata?: { httpStatusCode?: number; attempts?: number };
    $response?: { headers?: Readonly<Record<string, string>>; statusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  return {
    status,
    code: name,
    attempts: $metadata?.attempts ?? 1,
    region: $response?.headers?.["x-amz-bucket-region"],
  };
}

function unknownText(error: Error, { env }: Attempt, code: string, status: number): string {
  const text = plainText(plainText(error.message, env.AWS_SECRET_ACCESS_KEY ?? ""), env.AWS_SESSION_TOKEN ?? "");
  const isKnown = text !== "" && text !== code && text !== "UnknownError";
  const blame = status >= 500 ? "the store has a fault; start again later" : "the store refuses";
  return isKnown ? `${blame}: ${text}` : blame;
}

/** Keys that are gathered before they are removed. */
const atOnce = 1000;

/** Removes objects while their keys are still listed, so that memory does not grow with their number. */
async function removeEach(bucket: Bucket, keys: AsyncIterable<string>): Promise<void> {
  let some: string[] = [];
  for await (const key of keys) {
    some.push(key);
    if (some.length < atOnce) continue;
    await bucket.remove(some);
    some = [];
  }
  await bucket.remove(some);
}

/** Removes the objects in a folder. */
export async function removeBelow(bucket: Bucket, folder: string): Promise<void> {
  async function* keys() {
    for await (const { key } of bucket.list(`${folder}/`)) yield key;
  }
  await removeEach(bucket, keys());
}

/**
 * Removes the folders of runs that an earlier holder left behind: those that the head does not list and whose epoch is below that of
 * the head. Ends multipart uploads there, too. A holder that woke late has a low epoch, so it never touches files of its successor.
 * Resolves to the folders that it removed.
 */
export async function cleanUpBucket(bucket: Bucket, head: Head): Promise<readonly string[]> {
  const isLeft = leftoverTest(head);
  const folders = new Set<string>();
  async function* leftKeys() {
    for await (const { key } of bucket.list("runs/")) {
      const folder = isLeft(key);
      if (folder === undefined) continue;
      folders.add(folder);
      yield key;
    }
  }
  await removeEach(bucket, leftKeys());
  // Last: some stores do not list uploads, or not to everybody.
  for await (const upload of bucket.uploads("runs/")) if (isLeft(upload.key)) await bucket.endUpload(upload);
  return [...folders];
}

/** Gives the folder of a key that may be removed; undefined for every other key. */
function leftoverTest(head: Head): (key: string) => string | undefined {
  const listed = new Set(head.runs.map(({ folder }) => folder));
  return (key) => {
    const location = folderOfKey(key);
    return location && location.epoch < head.epoch && !listed.has(location.folder) ? location.folder : undefined;
  };
}
