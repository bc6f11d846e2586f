import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Bucket, openBucket } from "../../../src/store/bucket/bucket.js";

/** Opens a prefix in a store for one test. */
export async function openAt({ env }: { readonly env: NodeJS.ProcessEnv }, url: string): Promise<Bucket> {
  const bucket = await openBucket(url, { env, signal: new AbortController().signal });
  onTestFinished(() => bucket[Symbol.asyncDispose]());
  return bucket;
}

export async function keysBelow(bucket: Bucket, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.list(prefix)) keys.push(key);
  return keys;
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-bucket-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

export function sha256Of(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
