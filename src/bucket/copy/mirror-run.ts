import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fingerprint } from "../../dump/files/join-parts.js";
import { makeFolders } from "../../dump/files/make-folders.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { StopError } from "../../errors.js";
import { makeFolder } from "../../run/work/job-folders.js";
import type { Bucket } from "../bucket.js";
import type { BucketRun } from "../head.js";
import { writingCache } from "./cache.js";
import { bytesOf, removalOf } from "./copy-run.js";
import { fetchAll } from "./fetch-aside.js";
import { keepInUse } from "./in-use.js";
import { asideName, type JobCopy, withBucket } from "./job-copy.js";
import { makeRoom } from "./make-room.js";

/** A run exactly as it lies in the bucket now, damaged or not. */
export interface RunMirror {
  readonly folder: string;
  /** The SHA-256 of manifest.json is the one that head.json says. */
  readonly isListed: boolean;
  /** Makes the mirror the copy that other commands use: it has proved sound. */
  readonly adopt: () => Promise<void>;
  /** Removes the mirror; does nothing where it was adopted. */
  readonly remove: () => Promise<void>;
}

/** Fetches every object in the folder of a run, whatever it holds, for a proof of what lies in the bucket. Rejects as `copyRun` does. */
export async function mirrorRun(job: JobCopy, run: BucketRun): Promise<RunMirror> {
  const above = join(job.folder, asideName, randomUUID());
  const folder = join(above, run.run_id);
  const remove = () => rm(above, { recursive: true, force: true });
  return writingCache(job.cache, async () => {
    await makeFolder(folder);
    try {
      await keepInUse(above, job.options.signal);
      const paths = await withBucket(job.url, job.options, (bucket) => fetchObjects(bucket, job, run, folder));
      if (!paths.includes(manifestName)) throw noManifest(job, run);
      const { sha256 } = await fingerprint(join(folder, manifestName));
      const isListed = sha256 === run.manifest.sha256;
      return { folder, isListed, adopt: () => moveTo(job, run, folder, paths), remove };
    } catch (error) {
      await remove();
      throw (await removalOf(job, run)) ?? error;
    }
  });
}

async function fetchObjects(bucket: Bucket, job: JobCopy, run: BucketRun, folder: string): Promise<readonly string[]> {
  const objects: { readonly path: string; readonly bytes: number }[] = [];
  for await (const { key, bytes } of bucket.list(`${run.folder}/`)) {
    const path = key.slice(run.folder.length + 1);
    if (isSafe(path)) objects.push({ path, bytes });
  }
  const whole = bytesOf(objects);
  await makeRoom(job.cache, { url: `${job.url}/runs/${run.run_id}`, whole, missing: whole });
  for (const { path } of objects) await makeFolders(folder, path);
  const files = objects.map(({ path, bytes }) => ({
    ...{ key: `${run.folder}/${path}`, path: join(folder, path) },
    ...{ bytes, sha256: undefined },
  }));
  await fetchAll(bucket, job, { step: `fetching run ${run.run_id}`, files });
  return objects.map(({ path }) => path);
}

function noManifest({ url }: JobCopy, { folder, run_id }: BucketRun): StopError {
  const problem = `${url}/${folder}/${manifestName} is not there, although head.json lists the run`;
  return new StopError(`${problem}: something other than kbdump removed it. Take another run than ${run_id}`);
}

/** Whether a path stays in its folder; no run gives a file another one. */
function isSafe(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split("/").every((name) => !["", ".", ".."].includes(name));
}

async function moveTo(job: JobCopy, run: BucketRun, from: string, paths: readonly string[]): Promise<void> {
  const folder = join(job.folder, "runs", run.run_id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const path of paths) {
    await makeFolders(folder, path);
    await rename(join(from, path), join(folder, path));
  }
  await keepInUse(join(folder, manifestName), job.options.signal);
}
