import { symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ListedFile, listedFiles, type Manifest, manifestName } from "../../dump/manifest.js";
import { readManifest } from "../../dump/read-manifest.js";
import { StopError } from "../../errors.js";
import { isThere, makeFolder, makeFolders } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import type { Log } from "../../log.js";
import { emptyReadProgress, type ReadProgress } from "../../read-progress.js";
import type { Bucket } from "../bucket/bucket.js";
import type { ClientOptions } from "../bucket/client.js";
import { type BucketRun, type Head, readHead } from "../bucket/head.js";
import { DamagedError, type FileFacts, untilFailure } from "../bucket/objects.js";
import type { Copies } from "./copies.js";

export interface CopyOptions extends ClientOptions {
  readonly copies: Copies;
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
  /** Laid out as the folder of any job: `runs`, `latest`, `<job>.duckdb`. */
  readonly folder: string;
  readonly options: CopyOptions;
}

/** Opens the bucket of a place for some work. */
export async function withBucket<T>(
  url: string,
  options: ClientOptions,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T> {
  const { openBucket } = await import("../bucket/bucket.js"); // heavy; a local folder does without
  const bucket = await openBucket(url, options);
  try {
    return await work(bucket);
  } finally {
    await bucket.close();
  }
}

/** Looks up a job in a bucket, `s3://bucket/prefix/<job>`; undefined if there is no such job. */
export async function lookForJob(url: string, options: CopyOptions): Promise<JobCopy | undefined> {
  return withBucket(url, options, async (bucket) => {
    const found = await readHead(bucket);
    if (!found) return undefined;
    const folder = await options.copies.folderOf(bucket.url);
    return { url: bucket.url, job: basename(folder), head: found.head, age: found.age, folder, options };
  });
}

/** The folder for the copy of a run. */
export function copyFolderOf({ folder }: JobCopy, { run_id }: BucketRun): string {
  return join(folder, "runs", run_id);
}

/**
 * Copies the manifests of runs, and `latest`. A run whose manifest is damaged gets an empty folder, and a warning says so: the other
 * runs can be read.
 */
export async function copyManifests(job: JobCopy, runs: readonly BucketRun[]): Promise<void> {
  await fetching(job, async (bucket) => {
    for (const run of runs) await makeFolder(copyFolderOf(job, run));
    const files = runs.map((run) => manifestOf(run, copyFolderOf(job, run)));
    const onDamaged = (_file: WantedFile, { message }: Error) => job.options.log("warn", message);
    await fetchFiles(bucket, files, "reading manifests", { ...job.options, onDamaged });
    const latest = join(job.folder, "latest");
    if (job.head.latest !== null && !(await isThere(latest))) await symlink(join("runs", job.head.latest), latest);
  });
}

/** Copies all files of a listed run. Throws StopError if the run is removed meanwhile, or its files are damaged. */
export async function copyRun(job: JobCopy, run: BucketRun): Promise<void> {
  await copyInto(job, run, (bucket, folder) => fetchRun(bucket, run, folder, listedFiles, job.options)); // opening it reports a manifest that cannot be used
}

/**
 * Copies every object in the folder of a run, whatever it holds, for a proof of what lies in the bucket. Resolves to whether
 * manifest.json is the one that head.json lists. Throws like `copyRun`.
 */
export async function mirrorRun(job: JobCopy, run: BucketRun): Promise<boolean> {
  return copyInto(job, run, async (bucket, folder) => {
    const files: WantedFile[] = [];
    for await (const { key, bytes } of bucket.list(`${run.folder}/`)) {
      const path = key.slice(run.folder.length + 1);
      if (!isSafe(path)) continue;
      await makeFolders(folder, path);
      files.push({ key, path: join(folder, path), bytes, sha256: undefined });
    }
    if (!files.some(({ path }) => path === join(folder, manifestName))) throw noManifest(job, run);
    await fetchFiles(bucket, files, `fetching run ${run.run_id}`, job.options);
    return (await fingerprint(join(folder, manifestName))).sha256 === run.manifest.sha256;
  });
}

/** Copies into the folder of a run. Says of a run that is not listed any more, because `output.keep` removed it, that it was removed. */
function copyInto<T>(job: JobCopy, run: BucketRun, copy: (bucket: Bucket, folder: string) => Promise<T>): Promise<T> {
  const folder = copyFolderOf(job, run);
  const copyOrExplain = async (bucket: Bucket) => {
    await makeFolder(folder);
    return copy(bucket, folder).catch(async (error: unknown) => {
      const found = job.options.signal.aborted ? undefined : await readHead(bucket).catch(() => undefined);
      if (!found || found.head.runs.some((listed) => listed.folder === run.folder)) throw error;
      throw new StopError(
        `${job.url}/runs/${run.run_id} was removed while it was fetched: its head.json does not list it any more. Take another run; kbdump list ${job.url} shows those that are left`,
      );
    });
  };
  return job.options.copies.once(folder, () => fetching(job, copyOrExplain));
}

function noManifest({ url }: JobCopy, { folder, run_id }: BucketRun): StopError {
  const problem = `${url}/${folder}/${manifestName} is not there, although head.json lists the run`;
  return new StopError(`${problem}: something other than kbdump removed it. Take another run than ${run_id}`);
}

/** Whether a path stays in its folder; no run gives a file another one. */
function isSafe(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split("/").every((name) => !["", ".", ".."].includes(name));
}

/** Copies the database of a job. The path of the copy; undefined if the job has none. */
export async function copyDatabase(job: JobCopy): Promise<string | undefined> {
  const key = `${job.job}.duckdb`;
  const path = join(job.folder, key);
  const copy = async (bucket: Bucket) => {
    await makeFolder(job.folder);
    return fetchLatest(bucket, { key, path }, job.options);
  };
  return job.options.copies.once(path, () => fetching(job, copy));
}

/** Fetches of a database that is replaced each time, before that is an error. */
const mostTries = 3;

/** Fetches an object, again if it is replaced meanwhile. Resolves to its path; undefined if there is none. */
async function fetchLatest(
  bucket: Bucket,
  { key, path }: Pick<WantedFile, "key" | "path">,
  options: CopyOptions,
): Promise<string | undefined> {
  let facts = await bucket.look(key);
  for (let tries = 1; facts; tries++) {
    const { etag } = facts;
    try {
      await fetchFiles(bucket, [{ ...facts, key, path }], `fetching ${key}`, options);
      return path;
    } catch (error) {
      facts = await bucket.look(key);
      if (tries === mostTries || facts?.etag === etag) throw error;
    }
  }
  return undefined;
}

function fetching<T>({ url, options }: JobCopy, work: (bucket: Bucket) => Promise<T>): Promise<T> {
  return options.copies.explain(() => withBucket(url, options, work));
}

/** An object to fetch, and the path that its copy gets; the folder of that path is there. */
export interface WantedFile extends FileFacts {
  readonly key: string;
  readonly path: string;
}

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Shows how far it is, until the function that it returns is called. */
  readonly watch?: (progress: ReadProgress) => () => void;
  /** Called for an object that is damaged, which is left out then; without it, such an object ends all. */
  readonly onDamaged?: (file: WantedFile, error: DamagedError) => void;
}

/** Objects on their way at once. Each takes up to 16 MB of memory. */
const atOnce = 4;

/** Fetches objects to their paths, but for those that are there. The first failure ends all. `step` names the progress. */
export async function fetchFiles(
  bucket: Bucket,
  files: readonly WantedFile[],
  step: string,
  { signal, watch, onDamaged }: FetchOptions,
): Promise<void> {
  const progress = emptyReadProgress(step);
  progress.expected = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const onBytes = (bytes: number) => {
    progress.done += bytes;
  };
  const unwatch = watch?.(progress);
  try {
    await untilFailure(files, { atOnce, ending: signal }, async (file, signal) => {
      if (await isThere(file.path)) return;
      await bucket.fetchFile(file.key, file.path, { ...file, signal, onBytes }).catch((error: unknown) => {
        if (!onDamaged || !(error instanceof DamagedError)) throw error;
        onDamaged(file, error);
      });
    });
  } finally {
    unwatch?.();
  }
}

/** Where the manifest of a run is, and the path of its copy in a folder. */
export function manifestOf({ folder: key, manifest }: BucketRun, folder: string): WantedFile {
  return { key: `${key}/${manifestName}`, path: join(folder, manifestName), ...manifest };
}

/** Fetches the manifest of a run and the files that `wanted` chooses into a folder. Of a manifest that cannot be used, nothing else. */
export async function fetchRun(
  bucket: Bucket,
  run: BucketRun,
  folder: string,
  wanted: (manifest: Manifest) => readonly ListedFile[],
  options: FetchOptions,
): Promise<void> {
  await fetchFiles(bucket, [manifestOf(run, folder)], "reading manifests", options);
  const { manifest } = (await readManifest(folder)) ?? {};
  const files = manifest ? wanted(manifest) : [];
  for (const { path } of files) await makeFolders(folder, path);
  await fetchFiles(
    bucket,
    files.map((file) => ({ ...file, key: `${run.folder}/${file.path}`, path: join(folder, file.path) })),
    `fetching run ${run.run_id}`,
    options,
  );
}
