import type { Log } from "../../log.js";
import type { ReadProgress } from "../../read-progress.js";
import type { Bucket, ClientOptions } from "../bucket/bucket.js";
import type { Head } from "../bucket/head.js";
import type { Cache } from "./cache.js";

export interface CopyOptions extends ClientOptions {
  readonly log: Log;
  /** Shows how far a copy is, until the function that it returns is called. */
  readonly watch: (progress: ReadProgress) => () => void;
}

/** A job in a bucket, with a folder of this machine for copies of what it has. */
export interface JobCopy {
  /** `s3://bucket/prefix/<job>` */
  readonly url: string;
  readonly job: string;
  /** As it was when the job was looked up. */
  readonly head: Head;
  /** Milliseconds since the head had changed then. */
  readonly age: number;
  readonly cache: Cache;
  /** Laid out as the folder of any job: `runs`, `latest`, `<job>.duckdb`. */
  readonly folder: string;
  readonly options: CopyOptions;
}

/** Files on their way into the cache, of this job: `<job>/.copy/<uuid>`. */
export const asideName = ".copy";

/** Opens the bucket of a place for some work. */
export async function withBucket<T>(
  url: string,
  options: ClientOptions,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T> {
  const { openBucket } = await import("../bucket/open-bucket.js"); // heavy; a local folder does without
  const bucket = await openBucket(url, options);
  try {
    return await work(bucket);
  } finally {
    await bucket.close();
  }
}
