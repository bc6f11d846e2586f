import type { Bucket } from "./bucket.js";

/** Keys that are gathered before they are removed. */
const atOnce = 1000;

/** Removes objects while their keys are still listed, so that memory does not grow with their number. */
export async function removeEach(bucket: Bucket, keys: AsyncIterable<string>): Promise<void> {
  let some: string[] = [];
  for await (const key of keys) {
    some.push(key);
    if (some.length < atOnce) continue;
    await bucket.remove(some);
    some = [];
  }
  await bucket.remove(some);
}

/** Removes the objects in a folder. */
export async function removeBelow(bucket: Bucket, folder: string): Promise<void> {
  async function* keys() {
    for await (const { key } of bucket.list(`${folder}/`)) yield key;
  }
  await removeEach(bucket, keys());
}
