import type { Bucket, Condition, Written } from "./bucket.js";

/** Writes an object if the condition holds. */
export type ReplaceObject = (key: string, bytes: Buffer, condition: Condition) => Promise<Written>;

/**
 * Leaves conditions to the store. `unsafe`, where the store ignores them: looks at the object before it writes, so that a change
 * between the two goes unseen.
 */
export function replaceFor(bucket: Bucket, unsafe: boolean): ReplaceObject {
  if (!unsafe) return bucket.put;
  return async (key, bytes, condition) => {
    const found = await bucket.read(key);
    if (found?.etag !== (condition === "absent" ? undefined : condition.etag)) return "refused";
    return bucket.put(key, bytes);
  };
}
