import { StopError } from "../errors.js";
import type { OpenUpload } from "./bucket.js";
import { factsOf } from "./bucket-error.js";
import type { S3 } from "./client.js";
import { urlOfPlace } from "./s3-url.js";

/** Keys that one request removes at the most: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const mostKeys = 1000;

/** Removes objects. StopError names the first that the store keeps. */
export async function removeKeys(s3: S3, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += mostKeys) {
    const some = keys.slice(start, start + mostKeys);
    const command = new s3.sdk.DeleteObjectsCommand({
      Bucket: s3.place.bucket,
      Delete: { Quiet: true, Objects: some.map((key) => ({ Key: s3.at(key).Key })) },
    });
    const { Errors = [] } = await s3.ask("remove", some[0] ?? "", () =>
      s3.client.send(command, { abortSignal: s3.signal }),
    );
    const [first] = Errors.filter(({ Code }) => Code !== "NoSuchKey");
    if (first)
      throw new StopError(`cannot remove ${urlOfPlace({ ...s3.place, prefix: first.Key ?? "" })}: ${first.Code}`);
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
