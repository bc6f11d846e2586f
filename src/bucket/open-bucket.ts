import type { Bucket } from "./bucket.js";
import { openClient } from "./client.js";
import type { ClientOptions } from "./client-options.js";
import { fetchFile } from "./fetch-file.js";
import { listFolders, listKeys, listUploads } from "./list-keys.js";
import { putFile } from "./put-file.js";
import { lookAt, putObject } from "./put-object.js";
import { readObject } from "./read-object.js";
import { endUpload, removeKeys } from "./remove-keys.js";
import { placeFromUrl, urlOfPlace } from "./s3-url.js";

/** Opens a place in a bucket; no request is sent. UsageError for a wrong address, or where the AWS SDK is not installed. */
export async function openBucket(url: string, options: ClientOptions): Promise<Bucket> {
  const place = placeFromUrl(url);
  const s3 = await openClient(place, options);
  return {
    url: urlOfPlace(place),
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
