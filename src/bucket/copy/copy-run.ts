import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent, isThere } from "../../dump/files/is-there.js";
import { makeFolders } from "../../dump/files/make-folders.js";
import { type ListedFile, listedFiles } from "../../dump/manifest/listed-files.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { readManifest } from "../../dump/manifest/read-manifest.js";
import { StopError } from "../../errors.js";
import { DamagedError } from "../fetch-file.js";
import type { BucketRun } from "../head.js";
import { writingCache } from "./cache.js";
import { fetchAside } from "./fetch-aside.js";
import { keepInUse } from "./in-use.js";
import { type JobCopy, withBucket } from "./job-copy.js";
import { readHead } from "./look-up-job.js";
import { makeRoom } from "./make-room.js";

/**
 * Brings all files of a listed run into the cache; those that are there in their size are not fetched again. While this process is at
 * work, the copy stays. StopError where the run is removed meanwhile, or its files are damaged; UsageError where the cache is too small.
 */
export async function copyRun(job: JobCopy, run: BucketRun): Promise<void> {
  const folder = join(job.folder, "runs", run.run_id);
  await writingCache(job.cache, async () => {
    await keepInUse(join(folder, manifestName), job.options.signal);
    const { manifest } = (await readManifest(folder)) ?? {};
    if (!(await isThere(join(folder, manifestName)))) throw damaged(job, run);
    if (!manifest) return; // whoever opens it says what is wrong with the manifest
    const files = listedFiles(manifest);
    const missing = await missingOf(folder, files);
    if (missing.length === 0) return;
    const subject = { url: `${job.url}/runs/${run.run_id}`, whole: bytesOf(files), missing: bytesOf(missing) };
    await makeRoom(job.cache, subject);
    for (const { path } of missing) await makeFolders(folder, path);
    await fetchRun(job, run, folder, missing).catch(async (error: unknown) => {
      throw (await removalOf(job, run)) ?? error;
    });
  });
}

function damaged({ url }: JobCopy, { folder }: BucketRun): DamagedError {
  return new DamagedError(`${url}/${folder}/${manifestName} was damaged, replaced or removed. Take another run`);
}

export function bytesOf(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function missingOf(folder: string, files: readonly ListedFile[]): Promise<readonly ListedFile[]> {
  const missing: ListedFile[] = [];
  for (const file of files) {
    const facts = await lstat(join(folder, file.path)).catch(ifAbsent(undefined));
    if (!facts?.isFile() || facts.size !== file.bytes) missing.push(file);
  }
  return missing;
}

async function fetchRun(job: JobCopy, run: BucketRun, folder: string, missing: readonly ListedFile[]): Promise<void> {
  const files = missing.map(({ path, ...facts }) => ({
    ...facts,
    key: `${run.folder}/${path}`,
    path: join(folder, path),
  }));
  await withBucket(job.url, job.options, (bucket) =>
    fetchAside(bucket, job, { step: `fetching run ${run.run_id}`, files }),
  );
}

/** The error of a run that is not listed any more, as `output.keep` of its job let it go; undefined where it still is. */
export async function removalOf({ url, options }: JobCopy, run: BucketRun): Promise<StopError | undefined> {
  if (options.signal.aborted) return undefined;
  const head = await withBucket(url, options, readHead).catch(() => undefined);
  if (!head || head.runs.some(({ folder }) => folder === run.folder)) return undefined;
  return new StopError(
    `${url}/runs/${run.run_id} was removed while it was fetched: its head.json does not list it any more. Take another run; kbdump list ${url} shows those that are left`,
  );
}
