import type { Bucket } from "./bucket.js";
import { folderOfKey, type Head } from "./head.js";
import { removeEach } from "./remove-each.js";

/**
 * Removes the folders of runs that an earlier holder left behind: those that the head does not list and whose epoch is below that of
 * the head. Ends multipart uploads there, too. A holder that woke late has a low epoch, so it never touches files of its successor.
 * Resolves to the folders that it removed.
 */
export async function cleanUpBucket(bucket: Bucket, head: Head): Promise<readonly string[]> {
  const isLeft = leftoverTest(head);
  const folders = new Set<string>();
  async function* leftKeys() {
    for await (const { key } of bucket.list("runs/")) {
      const folder = isLeft(key);
      if (folder === undefined) continue;
      folders.add(folder);
      yield key;
    }
  }
  await removeEach(bucket, leftKeys());
  // Last: some stores do not list uploads, or not to everybody.
  for await (const upload of bucket.uploads("runs/")) if (isLeft(upload.key)) await bucket.endUpload(upload);
  return [...folders];
}

/** Gives the folder of a key that may be removed; undefined for every other key. */
export function leftoverTest(head: Head): (key: string) => string | undefined {
  const listed = new Set(head.runs.map(({ folder }) => folder));
  return (key) => {
    const place = folderOfKey(key);
    return place && place.epoch < head.epoch && !listed.has(place.folder) ? place.folder : undefined;
  };
}
