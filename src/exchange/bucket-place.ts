import type { Bucket } from "../bucket/bucket.js";
import { removeBelow } from "../bucket/remove-each.js";
import { isRunId } from "../dump/manifest/run-id.js";
import { StopError } from "../errors.js";

/** The place of a job in a bucket. */
export interface Store {
  readonly bucket: Bucket;
  /** Does work again, which must do no harm twice, while the store is gone for a while. */
  readonly outlast: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The exchange of one run in a bucket. */
export interface BucketPlace extends Store {
  /** Keys begin with it and a slash: `exchange/<run_id>`. */
  readonly prefix: string;
}

/** The folder of the exchanges among the keys of a job; head.json never lists anything in it. */
const exchanges = "exchange";

/** The exchange of a run. StopError for a run id that is none, since a broker may give any. */
export function placeIn({ bucket, outlast }: Store, runId: string): BucketPlace {
  if (!isRunId(runId)) throw new StopError(`${JSON.stringify(runId.slice(0, 80))} is no id of a run`);
  return { bucket, outlast, prefix: `${exchanges}/${runId}` };
}

/** A bucket has no folders whose absence could tell that a run is over, so an object does: the coordinator removes it first. */
const markOf = ({ prefix }: BucketPlace) => `${prefix}/under-way`;

/** Says that the run is under way. */
export async function markUnderWay(place: BucketPlace): Promise<void> {
  await place.outlast(() => place.bucket.put(markOf(place), Buffer.from("{}")));
}

export async function isUnderWay(place: BucketPlace): Promise<boolean> {
  return (await place.outlast(() => place.bucket.look(markOf(place)))) !== undefined;
}

/**
 * Removes the mark and then all keys. A worker that had looked at the mark before may still upload; that stays until the exchanges of other
 * runs are removed.
 */
export async function removePlace(place: BucketPlace): Promise<void> {
  const { bucket, outlast, prefix } = place;
  await outlast(() => bucket.remove([markOf(place)]));
  await outlast(() => removeBelow(bucket, prefix));
  await endUploads(bucket, (key) => key.startsWith(`${prefix}/`));
}

/** Removes the exchanges of all runs of a job but one, or of all. The caller holds the job. */
export async function removeOtherKeys({ bucket, outlast }: Store, runId: string | undefined): Promise<void> {
  await outlast(async () => {
    for await (const name of bucket.folders(`${exchanges}/`))
      if (name !== runId) await removeBelow(bucket, `${exchanges}/${name}`);
  });
  await endUploads(bucket, (key) => !key.startsWith(`${exchanges}/${runId}/`));
}

/** Ends uploads that workers left. Some stores do not list uploads, or not to everybody; docs/s3.md says what becomes of them there. */
async function endUploads(bucket: Bucket, isLeft: (key: string) => boolean): Promise<void> {
  try {
    for await (const upload of bucket.uploads(`${exchanges}/`)) if (isLeft(upload.key)) await bucket.endUpload(upload);
  } catch {
    // nothing but room in the store depends on it
  }
}

/** The text of an object; undefined where there is none. */
export async function readObject({ bucket, outlast }: Store, key: string): Promise<string | undefined> {
  return (await outlast(() => bucket.read(key)))?.bytes.toString("utf8");
}

/** The names of the objects right below a key, in the order of their bytes. */
export async function namesBelow({ bucket, outlast, prefix }: BucketPlace, folder: string): Promise<readonly string[]> {
  const below = `${prefix}/${folder}/`;
  return outlast(async () => {
    const names: string[] = [];
    for await (const { key } of bucket.list(below)) names.push(key.slice(below.length));
    return names;
  });
}
