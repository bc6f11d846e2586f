import { StopError } from "../../errors.js";
import { prefixFromUrl, urlOfPrefix, wholeKey } from "../../job/s3-url.js";
import { type ClientOptions, openClient, type S3 } from "./client.js";
import {
  type Condition,
  endUpload,
  type FileFacts,
  fetchFile,
  lookAt,
  type OpenUpload,
  type PutFileOptions,
  putFile,
  putObject,
  readObject,
  type Transfer,
} from "./objects.js";

/**
 * A prefix in a bucket. Keys are relative to the prefix. Every method rejects with a StopError or UsageError that says what failed
 * and what to do. A request without an answer is sent up to three times.
 */
export type Bucket = Awaited<ReturnType<typeof openBucket>>;

/** Opens a prefix in a bucket until the end of its scope, without a request. UsageError: a wrong address, or no AWS SDK. */
export async function openBucket(url: string, options: ClientOptions) {
  const location = prefixFromUrl(url);
  const s3 = await openClient(location, options);
  return {
    /** The address of the prefix: `s3://bucket/prefix`. */
    url: urlOfPrefix(location),
    read: (key: string) => readObject(s3, key),
    look: (key: string) => lookAt(s3, key),
    put: (key: string, bytes: Buffer, condition?: Condition) => putObject(s3, key, bytes, condition),
    putFile: (key: string, path: string, how: PutFileOptions) => putFile(s3, key, path, how),
    fetchFile: (key: string, path: string, facts: FileFacts & Transfer) => fetchFile(s3, key, path, facts),
    list: (prefix: string) => listKeys(s3, prefix),
    folders: (prefix: string) => listFolders(s3, prefix),
    remove: (keys: readonly string[]) => removeKeys(s3, keys),
    uploads: (prefix: string) => listUploads(s3, prefix),
    endUpload: (upload: OpenUpload) => endUpload(s3, upload),
    [Symbol.asyncDispose]: async () => s3.client.destroy(),
  };
}

/** Lists the objects whose keys start with `prefix`, in byte order of the keys. */
async function* listKeys(s3: S3, prefix: string): AsyncGenerator<{ readonly key: string; readonly bytes: number }> {
  for await (const { Contents = [] } of pagesOf(s3, prefix))
    for (const { Key, Size = 0 } of Contents) if (Key !== undefined) yield { key: ownKey(s3, Key), bytes: Size };
}

/** Lists the names of the folders directly in `prefix`, which is empty or ends with a slash. */
async function* listFolders(s3: S3, prefix: string): AsyncGenerator<string> {
  for await (const { CommonPrefixes = [] } of pagesOf(s3, prefix, "/"))
    for (const { Prefix } of CommonPrefixes)
      if (Prefix !== undefined) yield ownKey(s3, Prefix).slice(prefix.length, -1);
}

async function* pagesOf(s3: S3, prefix: string, Delimiter?: string) {
  let ContinuationToken: string | undefined;
  do {
    const request = { ...below(s3, prefix), Delimiter, ContinuationToken };
    const page = await s3.ask("list", prefix, () => s3.client.listObjectsV2(request));
    yield page;
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}

/** Lists the open multipart uploads, running or abandoned, of keys that start with `prefix`. */
async function* listUploads(s3: S3, prefix: string): AsyncGenerator<OpenUpload> {
  let after: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } = {};
  do {
    const request = { ...below(s3, prefix), ...after };
    const page = await s3.ask("list the uploads of", prefix, () => s3.client.listMultipartUploads(request));
    for (const { Key, UploadId } of page.Uploads ?? [])
      if (Key !== undefined && UploadId !== undefined) yield { key: ownKey(s3, Key), id: UploadId };
    after = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : {};
  } while (after.KeyMarker !== undefined);
}

function below({ location }: S3, prefix: string) {
  return { Bucket: location.bucket, Prefix: wholeKey(location, prefix) };
}

function ownKey({ location }: S3, key: string): string {
  return location.prefix === "" ? key : key.slice(location.prefix.length + 1);
}

/** Maximum keys per delete request: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const mostKeys = 1000;

/** Removes at most 1000 objects. Missing keys count as removed. Throws StopError, naming the first key that the store does not remove. */
async function removeKeys(s3: S3, keys: readonly string[]): Promise<void> {
  const Delete = { Quiet: true, Objects: keys.map((key) => ({ Key: s3.at(key).Key })) };
  const request = { Bucket: s3.location.bucket, Delete };
  const { Errors = [] } = await s3.ask("remove", keys[0] ?? "", () => s3.client.deleteObjects(request));
  const first = Errors.find(({ Code }) => Code !== "NoSuchKey");
  if (first)
    throw new StopError(`cannot remove ${urlOfPrefix({ ...s3.location, prefix: first.Key ?? "" })}: ${first.Code}`);
}

type IsChosen = (key: string) => boolean;

/** Removes objects in a folder, all by default. Removes them while listing, so that memory does not grow with their number. */
export async function removeBelow(bucket: Bucket, folder: string, isChosen: IsChosen = () => true): Promise<void> {
  let some: string[] = [];
  for await (const { key } of bucket.list(`${folder}/`)) {
    if (isChosen(key)) some.push(key);
    if (some.length < mostKeys) continue;
    await bucket.remove(some);
    some = [];
  }
  if (some.length > 0) await bucket.remove(some);
}

/**
 * Removes objects in a folder, then ends their uploads. Uploads come last, because listing them may fail: some stores or
 * permissions do not allow it.
 */
export async function removeWithUploads(bucket: Bucket, folder: string, isChosen?: IsChosen): Promise<void> {
  await removeBelow(bucket, folder, isChosen);
  for await (const upload of bucket.uploads(`${folder}/`))
    if (isChosen?.(upload.key) ?? true) await bucket.endUpload(upload);
}
