import { join } from "node:path";
import { isBucketUrl, placeFromUrl, urlOfPlace } from "../bucket/s3-url.js";
import type { OutputOptions } from "./job.js";

/** The local folder, and the bucket if there is one, of what a user names: a folder or `s3://bucket/prefix`. UsageError for a wrong address. */
export function outputPlace(dir: string, workDir?: string): Pick<OutputOptions, "dir" | "bucket"> {
  if (!isBucketUrl(dir)) return { dir, bucket: undefined };
  const { bucket, prefix } = placeFromUrl(dir);
  return { dir: workDir ?? join("output", ".s3", bucket, prefix), bucket: urlOfPlace({ bucket, prefix }) };
}
