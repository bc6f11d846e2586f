import { prefixFromUrl, urlOfPrefix, wholeKey } from "../../job/s3-url.js";
import type { Bucket, ClientOptions, OpenUpload } from "./bucket.js";
import { openClient, type S3 } from "./client.js";
import { endUpload, fetchFile, lookAt, putFile, putObject, readObject, removeKeys } from "./objects.js";

/** Opens a place in a bucket; no request is sent. UsageError for a wrong address, or where the AWS SDK is not installed. */
export async function openBucket(url: string, options: ClientOptions): Promise<Bucket> {
  const location = prefixFromUrl(url);
  const s3 = await openClient(location, options);
  return {
    url: urlOfPrefix(location),
    read: (key) => readObject(s3, key),
    look: (key) => s3.ask("read", key, () => lookAt(s3, key)),
    put: (key, bytes, condition) => putObject(s3, key, bytes, condition),
    putFile: (key, path, putOptions) => putFile(s3, key, path, putOptions),
    fetchFile: (key, path, facts, transfer) => fetchFile(s3, key, path, facts, transfer),
    list: (prefix) => listKeys(s3, prefix),
    folders: (prefix) => listFolders(s3, prefix),
    remove: (keys) => removeKeys(s3, keys),
    uploads: (prefix) => listUploads(s3, prefix),
    endUpload: (upload) => endUpload(s3, upload),
    close: async () => s3.client.destroy(),
  };
}

/** Lists the objects whose keys begin with a text, 1,000 a request. */
async function* listKeys(s3: S3, prefix: string): AsyncGenerator<{ key: string; bytes: number }> {
  let page: Awaited<ReturnType<typeof pageOfKeys>> | undefined;
  do {
    page = await pageOfKeys(s3, prefix, page?.NextContinuationToken);
    for (const { Key, Size } of page.Contents ?? [])
      if (Key !== undefined) yield { key: ownKey(s3, Key), bytes: Size ?? 0 };
  } while (page.NextContinuationToken !== undefined);
}

/** Lists the parts of the keys below a prefix, up to the next slash; the keys behind it are not read. */
async function* listFolders(s3: S3, prefix: string): AsyncGenerator<string> {
  let page: Awaited<ReturnType<typeof pageOfFolders>> | undefined;
  do {
    page = await pageOfFolders(s3, prefix, page?.NextContinuationToken);
    for (const { Prefix } of page.CommonPrefixes ?? [])
      if (Prefix !== undefined) yield ownKey(s3, Prefix).slice(prefix.length, -1);
  } while (page.NextContinuationToken !== undefined);
}

/** Lists the multipart uploads of keys that begin with a text. */
async function* listUploads(s3: S3, prefix: string): AsyncGenerator<OpenUpload> {
  let page: Awaited<ReturnType<typeof pageOfUploads>> | undefined;
  do {
    page = await pageOfUploads(s3, prefix, {
      KeyMarker: page?.NextKeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
    });
    for (const { Key, UploadId } of page.Uploads ?? [])
      if (Key !== undefined && UploadId !== undefined) yield { key: ownKey(s3, Key), id: UploadId };
  } while (page.IsTruncated && page.NextKeyMarker !== undefined);
}

function pageOfKeys(s3: S3, prefix: string, token: string | undefined) {
  const command = new s3.sdk.ListObjectsV2Command({ ...below(s3, prefix), ContinuationToken: token });
  return s3.ask("list", prefix, () => s3.client.send(command, { abortSignal: s3.signal }));
}

function pageOfFolders(s3: S3, prefix: string, token: string | undefined) {
  const command = new s3.sdk.ListObjectsV2Command({ ...below(s3, prefix), Delimiter: "/", ContinuationToken: token });
  return s3.ask("list", prefix, () => s3.client.send(command, { abortSignal: s3.signal }));
}

interface UploadMarkers {
  readonly KeyMarker: string | undefined;
  readonly UploadIdMarker: string | undefined;
}

function pageOfUploads(s3: S3, prefix: string, markers: UploadMarkers) {
  const command = new s3.sdk.ListMultipartUploadsCommand({ ...below(s3, prefix), ...markers });
  return s3.ask("list the uploads of", prefix, () => s3.client.send(command, { abortSignal: s3.signal }));
}

function below({ location }: S3, prefix: string) {
  return { Bucket: location.bucket, Prefix: wholeKey(location, prefix) };
}

function ownKey({ location }: S3, key: string): string {
  return location.prefix === "" ? key : key.slice(location.prefix.length + 1);
}
