import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ListedFile, listedFiles, manifestName } from "../../dump/manifest.js";
import { readManifest } from "../../dump/read-manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { StopError, UsageError } from "../../errors.js";
import { forEachOf, ifAbsent, isThere, makeFolders } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import { emptyReadProgress } from "../../read-progress.js";
import type { Bucket, FileFacts, Found } from "../bucket/bucket.js";
import { type BucketRun, headFrom, headKey } from "../bucket/head.js";
import { DamagedError } from "../bucket/objects.js";
import { makeFolder } from "../folder/job-folders.js";
import { cacheFrom, folderInCache, isInUse, keepInUse, writingCache } from "./cache.js";
import { asideName, type CopyOptions, type JobCopy, withBucket } from "./job-copy.js";
import { makeRoom } from "./make-room.js";

/**
 * Fetches all files of a listed run into the cache; those that are there in their size are not fetched again. While this process is at
 * work, the copy stays. StopError where the run is removed meanwhile, or its files are damaged; UsageError where the cache is too small.
 */
export async function copyRun(job: JobCopy, run: BucketRun): Promise<void> {
  const folder = join(job.folder, "runs", run.run_id);
  await writingCache(job.cache, async () => {
    await keepInUse(join(folder, manifestName), job.options.signal);
    const { manifest } = (await readManifest(folder)) ?? {};
    if (!(await isThere(join(folder, manifestName)))) throw damaged(job, run);
    if (!manifest) return; // opening it reports what is wrong with the manifest
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

/**
 * Looks up a job in a bucket, and fetches the manifests of the runs that its head lists into the cache. `url`: `s3://bucket/prefix/<job>`.
 * UsageError, with the jobs that are there, where there is no such job.
 */
export async function lookUpJob(url: string, options: CopyOptions): Promise<JobCopy> {
  const cache = cacheFrom(options.env);
  return withBucket(url, options, async (bucket) => {
    const found = await bucket.read(headKey);
    if (!found) throw await noJob(bucket.url, options);
    const folder = folderInCache(cache, bucket.url);
    const head = headFrom(found.bytes, `${bucket.url}/${headKey}`);
    const job: JobCopy = { url: bucket.url, job: basename(folder), head, age: found.age, cache, folder, options };
    await writingCache(cache, async () => {
      await makeFolder(join(folder, "runs"));
      await removeLeftovers(join(folder, asideName));
      await copyManifests(bucket, job);
    });
    return job;
  });
}

/** The head of a job as it is now; undefined where the job is gone. */
async function readHead(bucket: Bucket) {
  const found: Found | undefined = await bucket.read(headKey);
  return found && headFrom(found.bytes, `${bucket.url}/${headKey}`);
}

/** The names of the jobs at a place, in order. */
export async function jobsInBucket(url: string, options: CopyOptions): Promise<readonly string[]> {
  return withBucket(url, options, async (bucket) => {
    const jobs: string[] = [];
    for await (const name of bucket.folders("")) if (await bucket.look(`${name}/${headKey}`)) jobs.push(name);
    return jobs;
  });
}

/** The error of a place without a job. It says what is there instead. */
async function noJob(url: string, options: CopyOptions): Promise<UsageError> {
  const message = `there is no ${headKey} in it; ${await insteadOf(url, options)}`;
  return new UsageError("No such run or job:", [{ path: url, message }]);
}

/** The shards that were not joined yet, the jobs below a place that is their prefix, or the jobs beside the place. */
async function insteadOf(url: string, options: CopyOptions): Promise<string> {
  const shards = await jobsInBucket(`${url}/shards`, options);
  if (shards.length > 0) return `it has shards only; kbdump join ${url} makes a run of them`;
  const below = await jobsInBucket(url, options);
  const above = url.slice(0, url.lastIndexOf("/"));
  const [location, jobs] = below.length > 0 ? [url, below] : [above, await jobsInBucket(above, options)];
  const more = jobs.length > 10 ? ` and ${jobs.length - 10} more` : "";
  return jobs.length > 0 ? `jobs in ${location}: ${jobs.slice(0, 10).join(", ")}${more}` : `no job is in ${location}`;
}

/** Milliseconds without a change after which a folder aside counts as left behind by a process that was killed. */
const leftAfter = 3_600_000;

/** Removes what killed processes left in the folder for files on their way. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(ifAbsent<string[]>([]))) {
    const path = join(folder, name);
    if (Date.now() - (await lastChange(path)) > leftAfter) await rm(path, { recursive: true, force: true });
  }
}

async function lastChange(path: string): Promise<number> {
  const names = await readdir(path).catch(() => []);
  const times = [path, ...names.map((name) => join(path, name))].map((each) => stat(each).catch(ifAbsent(undefined)));
  return Math.max(0, ...(await Promise.all(times)).map((facts) => facts?.mtimeMs ?? 0));
}

/**
 * Brings the manifests of all listed runs, and `latest`, up to date, and removes copies of runs that are not listed any more. A run whose
 * manifest is damaged has none in the cache, and the other runs can be read; a warning says so.
 */
async function copyManifests(bucket: Bucket, job: JobCopy): Promise<void> {
  const { runs, latest } = job.head;
  const wanted: BucketRun[] = [];
  for (const run of runs) if (!(await hasManifest(job, run))) wanted.push(run);
  for (const { run_id } of wanted) {
    await makeFolder(join(job.folder, "runs", run_id));
    await rm(join(job.folder, "runs", run_id, manifestName), { force: true });
  }
  await fetchAside(bucket, job, {
    step: "reading manifests",
    files: wanted.map(({ run_id, folder, manifest }) => ({
      key: `${folder}/${manifestName}`,
      path: join(job.folder, "runs", run_id, manifestName),
      ...manifest,
    })),
    onDamaged: (_manifest, { message }) => job.options.log("warn", message),
  });
  await removeOthers(job);
  await pointLatest(job, latest);
}

/** Whether the manifest of a run is there as its head says; a damaged one is not. */
async function hasManifest(job: JobCopy, { run_id, manifest }: BucketRun): Promise<boolean> {
  const found = await fingerprint(join(job.folder, "runs", run_id, manifestName)).catch(ifAbsent(undefined));
  return found?.sha256 === manifest.sha256;
}

/** A run that another command reads just now stays until it is no longer used. */
async function removeOthers({ folder, head }: JobCopy): Promise<void> {
  const listed = new Set(head.runs.map(({ run_id }) => run_id));
  const names = (await readdir(join(folder, "runs"))).filter((name) => isRunId(name) && !listed.has(name));
  for (const name of names) {
    const path = join(folder, "runs", name);
    if (!(await isInUse(join(path, manifestName)))) await rm(path, { recursive: true, force: true });
  }
}

async function pointLatest({ folder }: JobCopy, latest: string | null): Promise<void> {
  const path = join(folder, "latest");
  if (latest === null) return rm(path, { force: true });
  const target = join("runs", latest);
  if ((await readlink(path).catch(ifAbsent(undefined))) === target) return;
  const aside = join(folder, `.latest-${randomUUID()}`);
  await symlink(target, aside);
  await rename(aside, path);
}

/** An object to fetch, and the path that its copy gets; the folder of that path is there. */
interface WantedFile extends FileFacts {
  readonly key: string;
  readonly path: string;
}

interface Fetch {
  /** Shown as progress. */
  readonly step: string;
  readonly files: readonly WantedFile[];
  /** Called for an object that is damaged, which is left out then; without it, such an object ends all. */
  readonly onDamaged?: (file: WantedFile, error: DamagedError) => void;
}

/** Objects on their way at once. Each takes up to 16 MB of memory. */
const atOnce = 4;

/**
 * Fetches objects into a folder aside, and moves them to their places once all are there and have proved right. The first failure ends
 * all, and leaves no half copy.
 */
export async function fetchAside(bucket: Bucket, job: JobCopy, { step, files, onDamaged }: Fetch): Promise<void> {
  if (files.length === 0) return;
  const aside = join(job.folder, asideName, randomUUID());
  await makeFolder(join(job.folder, asideName));
  await mkdir(aside, { mode: 0o700 });
  try {
    const places = new Map(files.map((file, at) => [join(aside, String(at)), file]));
    await fetchAll(bucket, job, {
      step,
      files: [...places].map(([path, file]) => ({ ...file, path })),
      ...(onDamaged && {
        onDamaged: ({ path }, error) => {
          const file = places.get(path);
          places.delete(path);
          if (file) onDamaged(file, error);
        },
      }),
    });
    for (const [from, { path }] of places) await rename(from, path);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Fetches objects to their paths, and shows how far it is. */
export async function fetchAll(bucket: Bucket, { options }: JobCopy, { step, files, onDamaged }: Fetch): Promise<void> {
  const progress = emptyReadProgress(step);
  progress.expected = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const onBytes = (bytes: number) => {
    progress.done += bytes;
  };
  const ends = new AbortController();
  const signal = AbortSignal.any([options.signal, ends.signal]);
  const unwatch = options.watch(progress);
  try {
    await forEachOf(files, atOnce, async (file) => {
      signal.throwIfAborted();
      await bucket.fetchFile(file.key, file.path, file, { signal, onBytes }).catch((error: unknown) => {
        if (onDamaged && error instanceof DamagedError) return onDamaged(file, error);
        ends.abort(error);
        throw error;
      });
    });
  } catch (error) {
    throw options.signal.aborted ? options.signal.reason : (ends.signal.reason ?? error);
  } finally {
    unwatch();
  }
}
