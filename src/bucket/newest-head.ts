import { StopError } from "../errors.js";
import type { Bucket } from "./bucket.js";
import { folderOfKey, type Head, headKey } from "./head.js";

/**
 * Makes sure that no holder came after the one that this head names. StopError where one did, and its head is gone: the runs that it
 * listed would count as left behind, and be removed. False where another has changed the head since it was read. `etag`: that of the
 * head; undefined where there is none.
 */
export async function isNewestHead(bucket: Bucket, { epoch }: Head, etag: string | undefined): Promise<boolean> {
  const newer = await folderAfter(bucket, epoch);
  if (newer === undefined) return true;
  if ((await bucket.read(headKey))?.etag !== etag) return false;
  const problem = `${bucket.url}/${headKey} was removed or replaced by hand: ${bucket.url}/${newer} is newer`;
  throw new StopError(
    `${problem}. Bring back the last version of ${headKey}; or, if you do not need them, remove the folders in ${bucket.url}/runs that it does not list`,
  );
}

/** The folder of a run whose holder came after this epoch; undefined where there is none. */
async function folderAfter(bucket: Bucket, epoch: number): Promise<string | undefined> {
  for await (const name of bucket.folders("runs/")) {
    const place = folderOfKey(`runs/${name}/`);
    if (place && place.epoch > epoch) return place.folder;
  }
  return undefined;
}
