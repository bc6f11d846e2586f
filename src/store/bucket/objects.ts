import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { RetryError, StopError } from "../../errors.js";
import { urlOfPrefix } from "../../job/s3-url.js";
import {
  type Condition,
  type FileFacts,
  type Found,
  factsOf,
  type ObjectFacts,
  type OpenUpload,
  type PutFileOptions,
  type Transfer,
  type Written,
} from "./bucket.js";
import type { S3 } from "./client.js";

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
    written = await reconciled(s3, key, { sha256, condition }, async () => {
      const command = new s3.sdk.CompleteMultipartUploadCommand({
        ...s3.at(key),
        UploadId: id,
        MultipartUpload: { Parts: parts },
        ...conditionHeaders(condition),
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
      const reported = part.then(() => options.onBytes?.(bytes.length)).finally(() => underWay.delete(reported));
      underWay.add(reported);
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
    ...conditionHeaders(condition),
  });
  return reconciled(s3, key, { sha256, condition }, async () => {
    const { ETag = "" } = await s3.client.send(command, { abortSignal: s3.signal });
    return { etag: ETag };
  });
}

/** The members of a request that name its condition. */
function conditionHeaders(condition: Condition | undefined) {
  if (condition === undefined) return {};
  return condition === "absent" ? { IfNoneMatch: "*" } : { IfMatch: condition.etag };
}

/** The facts that identify a write. */
interface Write {
  readonly sha256: string;
  readonly condition: Condition | undefined;
}

/**
 * The outcome of a write. If its answer was lost, if it was refused at a second try, the first of which may have succeeded, or if
 * the store failed half-way, the object that is there decides: its metadata name the SHA-256 of its content.
 */
async function reconciled(s3: S3, key: string, write: Write, send: () => Promise<Written>): Promise<Written> {
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
      date = responseHeaders(result.response).date;
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
        `cannot use ${urlOfPrefix(s3.location, key)}: the store sends no ${ETag === undefined ? "ETag" : "Date or Last-Modified"}`,
      );
    return { bytes, etag: ETag, age: Math.max(0, now - LastModified.getTime()) };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Whether an error of the SDK says that nothing has the key; that the bucket itself is not there is another one. */
function isAbsent(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload";
}

function responseHeaders(response: unknown): Readonly<Record<string, string>> {
  const { headers = {} } = response as { readonly headers?: Readonly<Record<string, string>> };
  return headers;
}

/** An object that is gone, or has other bytes than kbdump uploaded. Exit 1. */
export class DamagedError extends StopError {}

/** Bytes that one request asks for; they are in memory until they are written. */
const rangeBytes = 16 * 1024 * 1024;

/** Writes an object into a new local file, readable by its owner only. DamagedError, and no file, where it does not have these facts. */
export async function fetchFile(
  s3: S3,
  key: string,
  path: string,
  facts: FileFacts,
  { signal = s3.signal, onBytes }: Transfer = {},
): Promise<void> {
  const file = await open(path, "wx", 0o600);
  let isWhole = false;
  try {
    const hash = createHash("sha256");
    let [start, etag]: [number, string | undefined] = [0, undefined];
    do {
      signal.throwIfAborted();
      const range = await readRange(s3, key, { start, etag, facts, signal });
      hash.update(range.bytes);
      await file.writeFile(range.bytes);
      onBytes?.(range.bytes.length);
      [start, etag] = [start + range.bytes.length, range.etag];
    } while (start < facts.bytes);
    if (facts.sha256 !== undefined && hash.digest("hex") !== facts.sha256) throw otherContent(s3, key, facts);
    isWhole = true;
  } finally {
    await file.close();
    if (!isWhole) await rm(path, { force: true });
  }
}

interface Range {
  readonly start: number;
  /** That of the range before: the object must not be replaced in between. */
  readonly etag: string | undefined;
  readonly facts: FileFacts;
  readonly signal: AbortSignal;
}

async function readRange(s3: S3, key: string, { start, etag, facts, signal }: Range) {
  const end = Math.min(start + rangeBytes, facts.bytes);
  const command = new s3.sdk.GetObjectCommand({
    ...s3.at(key),
    ...(end > start ? { Range: `bytes=${start}-${end - 1}` } : {}),
    ...(etag === undefined ? {} : { IfMatch: etag }),
  });
  return s3.ask("read", key, async () => {
    try {
      const { Body, ContentRange = "", ETag } = await s3.client.send(command, { abortSignal: signal });
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const total = Number(/\/(\d+)$/.exec(ContentRange)?.[1] ?? bytes.length);
      if (total !== facts.bytes || bytes.length !== end - start) throw otherContent(s3, key, facts, total);
      return { bytes, etag: ETag };
    } catch (error) {
      signal.throwIfAborted();
      if (isAbsent(error)) throw new DamagedError(`cannot read ${urlOfPrefix(s3.location, key)}: it is not there`);
      const { status } = factsOf(error);
      throw status === 412 || status === 416 ? otherContent(s3, key, facts) : error;
    }
  });
}

/** `bytes`: the size that it has, where that is what differs. */
function otherContent({ location }: S3, key: string, facts: FileFacts, bytes = facts.bytes): DamagedError {
  const difference =
    bytes === facts.bytes ? `its SHA-256 is not ${facts.sha256}` : `it has ${bytes} bytes, not ${facts.bytes}`;
  return new DamagedError(
    `${urlOfPrefix(location, key)} is not what was uploaded: ${difference}. It was damaged or replaced; take another run`,
  );
}

/** Keys that one request removes at the most: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const mostKeys = 1000;

/** Removes objects. StopError names the first that the store keeps. */
export async function removeKeys(s3: S3, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += mostKeys) {
    const some = keys.slice(start, start + mostKeys);
    const command = new s3.sdk.DeleteObjectsCommand({
      Bucket: s3.location.bucket,
      Delete: { Quiet: true, Objects: some.map((key) => ({ Key: s3.at(key).Key })) },
    });
    const { Errors = [] } = await s3.ask("remove", some[0] ?? "", () =>
      s3.client.send(command, { abortSignal: s3.signal }),
    );
    const [first] = Errors.filter(({ Code }) => Code !== "NoSuchKey");
    if (first)
      throw new StopError(`cannot remove ${urlOfPrefix({ ...s3.location, prefix: first.Key ?? "" })}: ${first.Code}`);
  }
}

/** Ends a multipart upload; one that is gone counts as ended. */
export async function endUpload(s3: S3, { key, id }: OpenUpload): Promise<void> {
  const command = new s3.sdk.AbortMultipartUploadCommand({ ...s3.at(key), UploadId: id });
  await s3.ask("end the upload of", key, async () => {
    try {
      await s3.client.send(command, { abortSignal: s3.signal });
    } catch (error) {
      if (factsOf(error).status !== 404) throw error;
    }
  });
}
