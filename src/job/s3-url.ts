import { homedir } from "node:os";
import { UsageError } from "../errors.js";

/** A prefix in an object store. */
export interface BucketPrefix {
  readonly bucket: string;
  /** The beginning of all keys, followed by a slash; empty: the whole bucket. */
  readonly prefix: string;
}

/** A valid name of a bucket, by S3's rules: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const bucketName = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** A folder of a prefix, limited to characters that every store, signature and shell treats the same. */
const folderName = /^(?!\.{1,2}$)[A-Za-z0-9._=+@-]+$/;

/** Maximum bytes of a prefix. S3 allows 1,024 per key; the rest is left for the names of a run's files. */
const longestPrefix = 512;

/** Whether a text is a bucket address, not a local folder. */
export function isBucketUrl(text: string): boolean {
  return /^s3:/i.test(text);
}

/** Parses `s3://bucket/prefix`. Throws UsageError for an invalid address. */
export function prefixFromUrl(url: string): BucketPrefix {
  const rule = brokenRule(url);
  if (rule !== undefined)
    throw new UsageError(
      `${JSON.stringify(url).slice(0, 120)} is not a bucket address: expected s3://bucket/prefix; ${rule}`,
      [],
    );
  return split(url);
}

/** The address rule that a text breaks; undefined for a valid address. */
export function brokenRule(url: string): string | undefined {
  if (!url.startsWith("s3://")) return "it begins with s3://, in lower case";
  const { bucket, prefix } = split(url);
  if (!bucketName.test(bucket)) return "the name of a bucket has 3 to 63 lower-case letters, digits, dots and hyphens";
  if (prefix.length > longestPrefix) return `the prefix is longer than ${longestPrefix} characters`;
  if (prefix !== "" && !prefix.split("/").every((name) => folderName.test(name)))
    return "the prefix is made of names with letters, digits and ._=+@- only, divided by single slashes";
  return undefined;
}

function split(url: string): BucketPrefix {
  const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]*)(?:\/(.+?))?\/?$/s.exec(url) ?? [];
  return { bucket, prefix };
}

/** The address of a prefix, or of a key below it: `s3://bucket/prefix/head.json`. */
export function urlOfPrefix(location: BucketPrefix, key?: string): string {
  const whole = key === undefined ? location.prefix : wholeKey(location, key);
  return whole === "" ? `s3://${location.bucket}` : `s3://${location.bucket}/${whole}`;
}

/** The full key of a key below the prefix. */
export function wholeKey({ prefix }: BucketPrefix, key: string): string {
  return prefix === "" ? key : `${prefix}/${key}`;
}

/** This user's home folder; undefined if there is none, for example for a user id unknown to the container. */
export function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
