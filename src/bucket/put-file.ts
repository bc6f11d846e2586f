import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { StopError } from "../errors.js";
import type { Condition, PutFileOptions, Written } from "./bucket.js";
import type { S3 } from "./client.js";
import { headersOf, lookAt, putObject, settled } from "./put-object.js";
import { endUpload } from "./remove-keys.js";

/** Bytes up to which a file is sent in one request, and of a part above that. */
const partBytes = 16 * 1024 * 1024;
/** S3 takes this many parts at the most: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const mostParts = 10_000;
/** Parts on their way at once; each is in memory. */
const atOnce = 3;

interface Part {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
  readonly ChecksumSHA256: string;
}

/** Uploads a local file, whole or not at all. StopError where its content is not that of `sha256`. */
export async function putFile(s3: S3, key: string, path: string, options: PutFileOptions): Promise<Written> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > partBytes) return await putParts(s3, key, file, size, { ...options, path });
    const bytes = await file.readFile();
    checkContent(createHash("sha256").update(bytes).digest("hex"), { ...options, path });
    options.signal?.throwIfAborted();
    const written = await putObject(s3, key, bytes, options.condition);
    if (written !== "refused") options.onBytes?.(bytes.length);
    return written;
  } finally {
    await file.close();
  }
}

type PartsOptions = PutFileOptions & { readonly path: string };

async function putParts(s3: S3, key: string, file: FileHandle, size: number, options: PartsOptions): Promise<Written> {
  const { sha256, condition } = options;
  const created = await s3.ask("write", key, () =>
    s3.client.send(
      new s3.sdk.CreateMultipartUploadCommand({ ...s3.at(key), ChecksumAlgorithm: "SHA256", Metadata: { sha256 } }),
      { abortSignal: s3.signal },
    ),
  );
  const id = created.UploadId ?? "";
  let written: Written = "refused";
  try {
    const parts = await sendParts(s3, key, id, file, size, options);
    if (condition !== undefined && (await isRefusedAlready(s3, key, condition))) return "refused";
    written = await settled(s3, key, { sha256, condition }, async () => {
      const command = new s3.sdk.CompleteMultipartUploadCommand({
        ...s3.at(key),
        UploadId: id,
        MultipartUpload: { Parts: parts },
        ...headersOf(condition),
      });
      const { ETag = "" } = await s3.client.send(command, { abortSignal: s3.signal });
      return { etag: ETag };
    });
    return written;
  } finally {
    if (written === "refused") await endUpload(s3, { key, id }).catch(() => {}); // the error of the upload says more
  }
}

/** Looks first: some stores check the condition of a multipart upload less well than that of a single request. */
async function isRefusedAlready(s3: S3, key: string, condition: Condition): Promise<boolean> {
  const found = await s3.ask("read", key, () => lookAt(s3, key));
  return found?.etag !== (condition === "absent" ? undefined : condition.etag);
}

/** Reads the parts in order and sends some at a time. Resolves to all of them once the content proved right. */
async function sendParts(s3: S3, key: string, id: string, file: FileHandle, size: number, options: PartsOptions) {
  const length = Math.max(partBytes, Math.ceil(size / mostParts));
  const hash = createHash("sha256");
  const ends = new AbortController(); // the first part that fails ends the others
  const signal = AbortSignal.any([s3.signal, ends.signal, ...(options.signal ? [options.signal] : [])]);
  const [parts, underWay]: [Promise<Part>[], Set<Promise<unknown>>] = [[], new Set()];
  try {
    for (let start = 0; start < size; start += length) {
      signal.throwIfAborted();
      const bytes = await readPart(file, start, Math.min(length, size - start));
      hash.update(bytes);
      const part = sendPart(s3, key, id, parts.length + 1, bytes, signal);
      const told = part.then(() => options.onBytes?.(bytes.length)).finally(() => underWay.delete(told));
      underWay.add(told);
      parts.push(part);
      if (underWay.size >= atOnce) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    checkContent(hash.digest("hex"), options);
    return await Promise.all(parts);
  } catch (error) {
    ends.abort(error);
    await Promise.allSettled([...parts, ...underWay]);
    options.signal?.throwIfAborted();
    throw error;
  }
}

async function sendPart(s3: S3, key: string, id: string, number: number, bytes: Buffer, signal: AbortSignal) {
  const ChecksumSHA256 = createHash("sha256").update(bytes).digest("base64");
  const where = { ...s3.at(key), UploadId: id, PartNumber: number };
  const command = new s3.sdk.UploadPartCommand({ ...where, Body: bytes, ContentLength: bytes.length, ChecksumSHA256 });
  const { ETag } = await s3.ask("write", key, () => s3.client.send(command, { abortSignal: signal }));
  return { PartNumber: number, ETag, ChecksumSHA256 };
}

async function readPart(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break; // the file became shorter; its checksum tells
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function checkContent(sha256: string, options: PartsOptions): void {
  if (sha256 === options.sha256) return;
  throw new StopError(
    `${options.path} is not what was written there: its SHA-256 is ${sha256}, not ${options.sha256}. It was not uploaded. Check the disk, and start again`,
  );
}
