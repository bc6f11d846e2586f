import { RetryError, StopError, UsageError } from "../../errors.js";
import { plainText } from "../../safe-text.js";

/** Advice for the error codes of S3: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied:
    "these credentials do not allow that. They need s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads",
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
 * Turns the error of a failed request into a StopError in plain words, or a UsageError if no credentials are found. Never shows a
 * key: secrets are removed from the store's messages. `begin`: the start of the message, such as `cannot read s3://bucket/key`.
 */
export function bucketError(error: unknown, begin: string, env: NodeJS.ProcessEnv): unknown {
  if (!(error instanceof Error) || error instanceof StopError || error instanceof UsageError) return error;
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
    : (remedies[sameAs[code] ?? code] ?? unknownText(error, env, code, status));
  return new StopError(`${begin}: ${text} (${[code, status].filter((fact) => fact !== String(status)).join(", ")})`, {
    status,
    code,
  });
}

interface SdkError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>>; readonly statusCode?: number };
}

/** Facts of an SDK error: HTTP status, code, number of tries and region of the bucket. Without a status, the request got no answer. */
export function factsOf(error: unknown) {
  const { name: code = "", $metadata, $response } = (error ?? {}) as SdkError;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  return { status, code, attempts: $metadata?.attempts ?? 1, region: $response?.headers?.["x-amz-bucket-region"] };
}

function unknownText(error: Error, env: NodeJS.ProcessEnv, code: string, status: number): string {
  const text = plainText(plainText(error.message, env.AWS_SECRET_ACCESS_KEY ?? ""), env.AWS_SESSION_TOKEN ?? "");
  const isKnown = text !== "" && text !== code && text !== "UnknownError";
  const blame = status >= 500 ? "the store has a fault; start again later" : "the store refuses";
  return isKnown ? `${blame}: ${text}` : blame;
}
