import { createHash } from "node:crypto";
import { RetryError } from "../errors.js";
import type { Condition, ObjectFacts, Written } from "./bucket.js";
import { factsOf } from "./bucket-error.js";
import type { S3 } from "./client.js";
import { isAbsent } from "./read-object.js";

/** Writes an object in one request. The store checks the SHA-256 of its bytes. */
export async function putObject(s3: S3, key: string, bytes: Buffer, condition?: Condition): Promise<Written> {
  const hash = createHash("sha256").update(bytes).digest();
  const sha256 = hash.toString("hex");
  const command = new s3.sdk.PutObjectCommand({
    ...s3.at(key),
    Body: bytes,
    ContentLength: bytes.length,
    ChecksumSHA256: hash.toString("base64"),
    Metadata: { sha256 },
    ...headersOf(condition),
  });
  return settled(s3, key, { sha256, condition }, async () => {
    const { ETag = "" } = await s3.client.send(command, { abortSignal: s3.signal });
    return { etag: ETag };
  });
}

/** The members of a request that name its condition. */
export function headersOf(condition: Condition | undefined) {
  if (condition === undefined) return {};
  return condition === "absent" ? { IfNoneMatch: "*" } : { IfMatch: condition.etag };
}

/** The facts by which a write is told from every other. */
export interface Write {
  readonly sha256: string;
  readonly condition: Condition | undefined;
}

/**
 * The outcome of a write. If its answer was lost, if it was refused at a second try, the first of which may have succeeded, or if
 * the store failed half-way, the object that is there decides: its metadata name the SHA-256 of its content.
 */
export async function settled(s3: S3, key: string, write: Write, send: () => Promise<Written>): Promise<Written> {
  return s3.ask("write", key, async () => {
    try {
      return await send();
    } catch (error) {
      if (s3.signal.aborted) throw error;
      const isRefused = isRefusal(error, write.condition);
      if (isRefused && factsOf(error).attempts === 1) return "refused";
      if (!isRefused && !isAmbiguous(error)) throw error;
      const found = await lookAt(s3, key).catch(() => "unknown" as const);
      if (found === "unknown") throw error;
      if (found?.sha256 === write.sha256) return { etag: found.etag };
      if (isRefused || !holds(write.condition, found?.etag)) return "refused";
      throw error;
    }
  });
}

/** Conflicts of conditional writes: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
function isRefusal(error: unknown, condition: Condition | undefined): boolean {
  const { status } = factsOf(error);
  if (condition === undefined) return false;
  return status === 412 || status === 409 || (condition !== "absent" && isAbsent(error));
}

/** Whether the write may have taken place although its request failed. The upload is gone, too, once it is complete. */
function isAmbiguous(error: unknown): boolean {
  const { status, code } = factsOf(error);
  if (error instanceof RetryError || code === "NoSuchUpload") return true;
  return status === undefined || status >= 500;
}

function holds(condition: Condition | undefined, etag: string | undefined): boolean {
  if (condition === undefined) return true;
  return condition === "absent" ? etag === undefined : condition.etag === etag;
}

/** The ETag and size of an object, and the SHA-256 that kbdump noted with it; undefined where there is none. */
export async function lookAt(s3: S3, key: string): Promise<ObjectFacts | undefined> {
  try {
    const command = new s3.sdk.HeadObjectCommand(s3.at(key));
    const { ETag = "", ContentLength = 0, Metadata } = await s3.client.send(command, { abortSignal: s3.signal });
    return { etag: ETag, bytes: ContentLength, sha256: Metadata?.sha256 };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}
