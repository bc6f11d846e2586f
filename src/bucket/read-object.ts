import { StopError } from "../errors.js";
import type { Found } from "./bucket.js";
import { factsOf } from "./bucket-error.js";
import type { S3 } from "./client.js";
import { urlOfPlace } from "./s3-url.js";

/** Reads an object whole; undefined where there is none. StopError where the store says neither its ETag nor the time. */
export async function readObject(s3: S3, key: string): Promise<Found | undefined> {
  return s3.ask("read", key, () => readOnce(s3, key));
}

async function readOnce(s3: S3, key: string): Promise<Found | undefined> {
  let date: string | undefined;
  const command = new s3.sdk.GetObjectCommand(s3.at(key));
  command.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request);
      date = headersOf(result.response).date;
      return result;
    },
    { step: "deserialize", priority: "low" },
  );
  try {
    const { Body, ETag, LastModified } = await s3.client.send(command, { abortSignal: s3.signal });
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    const now = Date.parse(date ?? "");
    if (ETag === undefined || LastModified === undefined || Number.isNaN(now))
      throw new StopError(
        `cannot use ${urlOfPlace(s3.place, key)}: the store sends no ${ETag === undefined ? "ETag" : "Date or Last-Modified"}`,
      );
    return { bytes, etag: ETag, age: Math.max(0, now - LastModified.getTime()) };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Whether an error of the SDK says that nothing has the key; that the bucket itself is not there is another one. */
export function isAbsent(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload";
}

function headersOf(response: unknown): Readonly<Record<string, string>> {
  const { headers = {} } = response as { readonly headers?: Readonly<Record<string, string>> };
  return headers;
}
