import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rm, stat } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { RetryError, StopError } from "../../errors.js";
import { forEachOf } from "../../files/files.js";
import { urlOfPrefix } from "../../job/s3-url.js";
import { factsOf } from "./bucket-error.js";
import type { S3 } from "./client.js";
import { dateOfAnswer } from "./request-handler.js";

/** The condition of a write: the key has no object, or its object has this ETag. */
export type Condition = "absent" | { readonly etag: string };

/** The result of a write. refused: the condition did not hold, and nothing was written. */
export type Written = { readonly etag: string } | "refused";

/** The expected content of a file. With an undefined SHA-256, any content of this size matches. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string | undefined;
}

/** The facts of an object, known without reading it. `sha256`: recorded by kbdump when it wrote the object. */
export interface ObjectFacts extends FileFacts {
  readonly etag: string;
}

/** An object that was read completely. */
export interface Found {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Milliseconds since the last write, by the store's clock, which counts in seconds. */
  readonly age: number;
}

/** Hooks to watch and cancel a transfer. */
export interface Transfer {
  readonly signal?: AbortSignal;
  /** Called with the bytes transferred since the last call. */
  readonly onBytes?: (bytes: number) => void;
}

export interface PutFileOptions extends Transfer {
  readonly sha256: string;
  readonly condition?: Condition | undefined;
}

/** An open multipart upload. Readers never see it, but S3 charges for it. */
export interface OpenUpload {
  readonly key: string;
  readonly id: string;
}

/** Maximum bytes of a file that is uploaded in one request. Larger files are uploaded in parts of at least this size. */
const partBytes = 16 * 1024 * 1024;
/** Maximum parts of an upload to S3: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const mostParts = 10_000;
/** Maximum parts of a file to upload at once. Each is in memory. */
const partsAtOnce = 3;

/**
 * Uploads a local file atomically, in parts if it has more than 16 MB. The store checks the SHA-256 of each part. kbdump checks the
 * SHA-256 of the whole file before the object appears, and throws StopError if the file changed. Ends a failed upload.
 */
export async function putFile(s3: S3, key: string, path: string, options: PutFileOptions): Promise<Written> {
  const { size } = await stat(path);
  if (size > partBytes) return putParts(s3, key, { ...options, path, size });
  const bytes = await readFile(path);
  checkContent(sha256Of(bytes).toString("hex"), { ...options, path });
  options.signal?.throwIfAborted();
  const written = await putObject(s3, key, bytes, options.condition);
  if (written !== "refused") options.onBytes?.(bytes.length);
  return written;
}

interface LargeFile extends PutFileOptions {
  readonly path: string;
  readonly size: number;
}

async function putParts(s3: S3, key: string, file: LargeFile): Promise<Written> {
  const { sha256, condition } = file;
  const upload = { ...s3.at(key), ChecksumAlgorithm: "SHA256", Metadata: { sha256 } } as const;
  const { UploadId: id = "" } = await s3.ask("write", key, () => s3.client.createMultipartUpload(upload));
  let written: Written = "refused";
  try {
    const whole = { ...s3.at(key), UploadId: id, MultipartUpload: { Parts: await sendParts(s3, { key, id }, file) } };
    // Some stores check the condition only for single requests, so check it here, too.
    if (condition !== undefined && !holds(condition, (await lookAt(s3, key))?.etag)) return "refused";
    const complete = () => s3.client.completeMultipartUpload({ ...whole, ...conditionHeaders(condition) });
    written = await reconciled(s3, key, file, complete);
    return written;
  } finally {
    if (written === "refused") await endUpload(s3, { key, id }).catch(() => {}); // the error of the upload says more
  }
}

/** Reads the parts in order and sends some at a time. Returns all parts if the content has the expected SHA-256. */
async function sendParts(s3: S3, { key, id }: OpenUpload, whole: LargeFile) {
  const { path, size } = whole;
  const length = Math.max(partBytes, Math.ceil(size / mostParts));
  const hash = createHash("sha256");
  const parts: { PartNumber: number; ETag: string | undefined; ChecksumSHA256: string }[] = [];
  let reading: Promise<unknown> = Promise.resolve();
  const starts = Array.from({ length: Math.ceil(size / length) }, (_, at) => at * length);
  const send = async (start: number, at: number, signal: AbortSignal) => {
    const read = reading.then(() => buffer(createReadStream(path, { start, end: start + length - 1 })));
    reading = read.then((bytes) => hash.update(bytes)).catch(() => {});
    const Body = await read;
    const part = { PartNumber: at + 1, ChecksumSHA256: sha256Of(Body).toString("base64") };
    const request = { ...s3.at(key), UploadId: id, ...part, Body, ContentLength: Body.length };
    const { ETag } = await s3.ask("write", key, () => s3.client.uploadPart(request, { abortSignal: signal }));
    parts[at] = { ...part, ETag };
    whole.onBytes?.(Body.length);
  };
  await forEachOf(starts, partsAtOnce, send, whole.signal);
  checkContent(hash.digest("hex"), whole);
  return parts;
}

function sha256Of(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function checkContent(found: string, { sha256, path }: { readonly sha256: string; readonly path: string }): void {
  if (found === sha256) return;
  throw new StopError(
    `${path} is not what was written there: its SHA-256 is ${found}, not ${sha256}. It was not uploaded. Check the disk, and start again`,
  );
}

/**
 * Writes an object in one request. The store checks the SHA-256 of its bytes. If the answer is lost, reads the object to find
 * out whether it was written.
 */
export async function putObject(s3: S3, key: string, bytes: Buffer, condition?: Condition): Promise<Written> {
  const hash = sha256Of(bytes);
  const write = { sha256: hash.toString("hex"), condition };
  const request = {
    ...s3.at(key),
    Body: bytes,
    ContentLength: bytes.length,
    ChecksumSHA256: hash.toString("base64"),
    Metadata: { sha256: write.sha256 },
    ...conditionHeaders(condition),
  };
  return reconciled(s3, key, write, () => s3.client.putObject(request));
}

/** The headers that make a write conditional. */
function conditionHeaders(condition: Condition | undefined) {
  if (condition === undefined) return {};
  return condition === "absent" ? { IfNoneMatch: "*" } : { IfMatch: condition.etag };
}

/**
 * Sends a write and returns its outcome. If the answer was lost, the store failed, or a retry was refused (the first try may have
 * succeeded), reads the object and compares the SHA-256 in its metadata.
 */
async function reconciled(
  s3: S3,
  key: string,
  { sha256, condition }: Pick<PutFileOptions, "sha256" | "condition">,
  send: () => Promise<{ readonly ETag?: string | undefined }>,
): Promise<Written> {
  return s3.ask("write", key, async () => {
    try {
      const { ETag = "" } = await send();
      return { etag: ETag };
    } catch (error) {
      const isRefused = isRefusal(error, condition);
      if (isRefused && factsOf(error).attempts === 1) return "refused";
      if (!isRefused && !isAmbiguous(error)) throw error;
      const found = await lookAt(s3, key).catch(() => {
        throw error;
      });
      if (found?.sha256 === sha256) return { etag: found.etag };
      if (isRefused || !holds(condition, found?.etag)) return "refused";
      throw error;
    }
  });
}

/**
 * Whether the store refused a write because its condition did not hold:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
function isRefusal(error: unknown, condition: Condition | undefined): boolean {
  const { status } = factsOf(error);
  if (condition === undefined) return false;
  return status === 412 || status === 409 || (condition !== "absent" && isAbsent(error));
}

/** Whether a write may have succeeded although its request failed. NoSuchUpload can mean that the upload is already complete. */
function isAmbiguous(error: unknown): boolean {
  const { status, code } = factsOf(error);
  if (error instanceof RetryError || code === "NoSuchUpload") return true;
  return status === undefined || status >= 500;
}

function holds(condition: Condition | undefined, etag: string | undefined): boolean {
  if (condition === undefined) return true;
  return condition === "absent" ? etag === undefined : condition.etag === etag;
}

/** The facts of an object, without reading it; undefined if the key does not exist. */
export async function lookAt(s3: S3, key: string): Promise<ObjectFacts | undefined> {
  return s3.ask("read", key, async () => {
    const found = await s3.client.headObject(s3.at(key)).catch(ifKeyAbsent);
    return found && { etag: found.ETag ?? "", bytes: found.ContentLength ?? 0, sha256: found.Metadata?.sha256 };
  });
}

/** Reads a complete object; undefined if the key does not exist. Throws StopError if the answer lacks an ETag or dates. */
export async function readObject(s3: S3, key: string): Promise<Found | undefined> {
  return s3.ask("read", key, async () => {
    const found = await s3.client.getObject(s3.at(key)).catch(ifKeyAbsent);
    if (!found) return undefined;
    const { Body, ETag, LastModified, Metadata } = found;
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    const now = Date.parse(Metadata?.[dateOfAnswer] ?? "");
    if (ETag === undefined || LastModified === undefined || Number.isNaN(now))
      throw new StopError(
        `cannot use ${urlOfPrefix(s3.location, key)}: the store sends no ${ETag === undefined ? "ETag" : "Date or Last-Modified"}`,
      );
    return { bytes, etag: ETag, age: Math.max(0, now - LastModified.getTime()) };
  });
}

function ifKeyAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error;
}

/** Whether an SDK error means that the key does not exist. A missing bucket does not count. */
function isAbsent(error: unknown): boolean {
  const { status, code } = factsOf(error);
  return status === 404 && code !== "NoSuchBucket" && code !== "NoSuchUpload";
}

/** Thrown if an object is missing, or differs from what kbdump uploaded. */
export class DamagedError extends StopError {}

/** Bytes to fetch with one request. They stay in memory until they are written. */
const rangeBytes = 16 * 1024 * 1024;

/**
 * Writes an object to a new local file, readable only by its owner. If the content differs from `facts`, removes the file and
 * throws DamagedError.
 */
export async function fetchFile(s3: S3, key: string, path: string, facts: FileFacts & Transfer): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let [start, etag]: [number, string | undefined] = [0, undefined];
    do {
      facts.signal?.throwIfAborted();
      const range = await readRange(s3, key, facts, { start, etag });
      hash.update(range.bytes);
      await file.writeFile(range.bytes);
      facts.onBytes?.(range.bytes.length);
      [start, etag] = [start + range.bytes.length, range.etag];
    } while (start < facts.bytes);
    if (facts.sha256 !== undefined && hash.digest("hex") !== facts.sha256) throw otherContent(s3, key, facts);
  } catch (error) {
    await rm(path, { force: true });
    facts.signal?.throwIfAborted(); // with the reason itself, which may be the failure of another file
    throw error;
  }
}

/** Reads a part of an object. `etag`: of the object when its previous part was read, because it must not be replaced in between. */
async function readRange(
  s3: S3,
  key: string,
  facts: FileFacts & Transfer,
  { start, etag }: { readonly start: number; readonly etag: string | undefined },
) {
  const end = Math.min(start + rangeBytes, facts.bytes);
  const request = {
    ...s3.at(key),
    ...(end > start ? { Range: `bytes=${start}-${end - 1}` } : {}),
    ...(etag === undefined ? {} : { IfMatch: etag }),
  };
  return s3.ask("read", key, async () => {
    try {
      const {
        Body,
        ContentRange = "",
        ETag,
      } = await s3.client.getObject(request, { abortSignal: facts.signal ?? s3.signal });
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const total = Number(/\/(\d+)$/.exec(ContentRange)?.[1] ?? bytes.length);
      if (total !== facts.bytes || bytes.length !== end - start) throw otherContent(s3, key, facts, total);
      return { bytes, etag: ETag };
    } catch (error) {
      if (isAbsent(error)) throw new DamagedError(`cannot read ${urlOfPrefix(s3.location, key)}: it is not there`);
      const { status } = factsOf(error);
      throw status === 412 || status === 416 ? otherContent(s3, key, facts) : error;
    }
  });
}

/** The error for an object that differs from `facts`. `bytes`: its actual size, if that differs. */
function otherContent({ location }: S3, key: string, facts: FileFacts, bytes = facts.bytes): DamagedError {
  const difference =
    bytes === facts.bytes ? `its SHA-256 is not ${facts.sha256}` : `it has ${bytes} bytes, not ${facts.bytes}`;
  return new DamagedError(
    `${urlOfPrefix(location, key)} is not what was uploaded: ${difference}. It was damaged or replaced; use another run`,
  );
}

/** Ends a multipart upload and frees its parts. A missing upload counts as ended. */
export async function endUpload(s3: S3, { key, id }: OpenUpload): Promise<void> {
  await s3.ask("end the upload of", key, async () => {
    await s3.client.abortMultipartUpload({ ...s3.at(key), UploadId: id }).catch((error: unknown) => {
      if (factsOf(error).status !== 404) throw error;
    });
  });
}
