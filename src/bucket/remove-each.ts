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
