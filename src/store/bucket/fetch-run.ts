import { symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ListedFile, listedFiles, type Manifest, manifestName } from "../../dump/manifest.js";
import { readManifest } from "../../dump/read-manifest.js";
import { StopError } from "../../errors.js";
import { forEachOf, isThere, makeFolders } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import type { Log } from "../../log.js";
import { emptyReadProgress, type ReadProgress } from "../../read-progress.js";
import type { Bucket } from "./bucket.js";
import type { ClientOptions } from "./client.js";
import type { Copies } from "./copies.js";
import { type BucketRun, type Head, readHead } from "./head.js";
import { DamagedError, type FileFacts } from "./objects.js";

export interface LocalCopyOptions extends ClientOptions {
  readonly copies: Copies;
  readonly log: Log;
  /** Shows the progress of a copy. Returns a function that ends the display. */
  readonly watch: (progress: ReadProgress) => () => void;
}

/** A job in a bucket, with a local folder for copies of its files. */
export interface JobCopy {
  /** The address of the job: `s3://bucket/prefix/<job>`. */
  readonly url: string;
  /** The head when the job was looked up. */
  readonly head: Head;
  /** Milliseconds from the last change of the head to the lookup. */
  readonly age: number;
  /** The local folder for copies. It has the layout of a job folder: `runs`, `latest`, `<job>.duckdb`. */
  readonly folder: string;
  readonly options: LocalCopyOptions;
}

/** Opens a bucket, runs `work` and closes the bucket. */
export async function withBucket<T>(
  url: string,
  options: ClientOptions,
  work: (bucket: Bucket) => Promise<T>,
): Promise<T> {
  const { openBucket } = await import("./bucket.js"); // slow to load, and not needed for local folders
  await using bucket = await openBucket(url, options);
  return await work(bucket);
}

/** Looks up a job in a bucket, `s3://bucket/prefix/<job>`; undefined if there is no such job. */
export async function lookForJob(url: string, options: LocalCopyOptions): Promise<JobCopy | undefined> {
  return withBucket(url, options, async (bucket) => {
    const found = await readHead(bucket);
    if (!found) return undefined;
    const folder = await options.copies.folderOf(bucket.url);
    return { url: bucket.url, head: found.head, age: found.age, folder, options };
  });
}

/**
 * Fetches the manifests of runs, and `latest`. For a damaged manifest, it creates an empty folder and logs a warning, so that the
 * other runs can still be read.
 */
export async function fetchManifestsOf(job: JobCopy, runs: readonly BucketRun[]): Promise<void> {
  await fetching(job, async (bucket) => {
    const files = runs.map((run) => manifestOf(run, join("runs", run.run_id, manifestName)));
    const onDamaged = (_file: WantedFile, { message }: Error) => job.options.log("warn", message);
    await fetchFiles(bucket, job.folder, files, { ...job.options, step: "reading manifests", onDamaged });
    const latest = join(job.folder, "latest");
    if (job.head.latest !== null && !(await isThere(latest))) await symlink(join("runs", job.head.latest), latest);
  });
}

/** Fetches all files of a listed run. Throws StopError if the run is removed meanwhile, or its files are damaged. */
export async function fetchRunOf(job: JobCopy, run: BucketRun): Promise<void> {
  await copyInto(job, run, (bucket, folder) => fetchRun(bucket, run, folder, job.options)); // opening the copy reports an invalid manifest
}

/**
 * Fetches every object in the folder of a run, to verify the bucket's files. `isListed`: whether manifest.json is the one that
 * head.json lists. Throws StopError if the run is removed meanwhile.
 */
export async function mirrorRun(job: JobCopy, run: BucketRun): Promise<{ folder: string; isListed: boolean }> {
  return copyInto(job, run, async (bucket, folder) => {
    const files: WantedFile[] = [];
    for await (const { key, bytes } of bucket.list(`${run.folder}/`)) {
      const path = key.slice(run.folder.length + 1);
      if (isSafe(path)) files.push({ key, path, bytes, sha256: undefined });
    }
    if (!files.some(({ path }) => path === manifestName)) {
      const problem = `${job.url}/${run.folder}/${manifestName} is not there, although head.json lists the run`;
      throw new StopError(`${problem}: something other than kbdump removed it. Use another run than ${run.run_id}`);
    }
    await fetchFiles(bucket, folder, files, { ...job.options, step: `fetching run ${run.run_id}` });
    const { sha256 } = await fingerprint(join(folder, manifestName));
    return { folder, isListed: sha256 === run.manifest.sha256 };
  });
}

/** Whether a path cannot leave its folder. Runs write only such paths. */
function isSafe(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path) && path.split("/").every((name) => !["", ".", ".."].includes(name));
}

/** Copies into the folder of a run. If the run was removed meanwhile, for example by `output.keep`, the error says so. */
function copyInto<T>(job: JobCopy, run: BucketRun, copy: (bucket: Bucket, folder: string) => Promise<T>): Promise<T> {
  const folder = join(job.folder, "runs", run.run_id);
  return fetching(job, async (bucket) => {
    await makeFolders(job.folder, join("runs", run.run_id, manifestName));
    return copy(bucket, folder).catch(async (error: unknown) => {
      const found = job.options.signal.aborted ? undefined : await readHead(bucket).catch(() => undefined);
      if (!found || found.head.runs.some((listed) => listed.folder === run.folder)) throw error;
      throw new StopError(
        `${job.url}/runs/${run.run_id} was removed while it was fetched: its head.json does not list it any more. Use another run; kbdump list ${job.url} shows those that are left`,
      );
    });
  });
}

/** How often to try to fetch a database that is replaced during each fetch. */
const mostTries = 3;

/** Fetches the database of a job, again if it is replaced meanwhile. Returns the path of the copy; undefined if the job has none. */
export async function fetchDatabaseOf(job: JobCopy): Promise<string | undefined> {
  const key = `${basename(job.url)}.duckdb`;
  return fetching(job, async (bucket) => {
    for (let tries = 1; ; tries++) {
      const facts = await bucket.look(key);
      if (!facts) return undefined;
      try {
        const wanted = [{ ...facts, key, path: key }];
        await fetchFiles(bucket, job.folder, wanted, { ...job.options, step: `fetching ${key}` });
        return join(job.folder, key);
      } catch (error) {
        if (tries === mostTries || (await bucket.look(key))?.etag === facts.etag) throw error;
      }
    }
  });
}

function fetching<T>({ url, options }: JobCopy, work: (bucket: Bucket) => Promise<T>): Promise<T> {
  return options.copies.explain(() => withBucket(url, options, work));
}

/** An object to fetch, and the path for its copy, relative to the folder. */
export interface WantedFile extends FileFacts {
  readonly key: string;
  readonly path: string;
}

interface FetchOptions extends Pick<LocalCopyOptions, "signal">, Partial<Pick<LocalCopyOptions, "watch">> {
  /** The step to show as progress. */
  readonly step: string;
  /** Called for a damaged object, which is then skipped. Without this callback, a damaged object fails the transfer. */
  readonly onDamaged?: (file: WantedFile, error: DamagedError) => void;
}

/** Maximum objects to fetch at once. Each takes up to 16 MB of memory. */
const atOnce = 4;

/** Fetches objects into a folder, which must exist. Skips files that already exist. The first failure ends all. */
export async function fetchFiles(
  bucket: Bucket,
  folder: string,
  files: readonly WantedFile[],
  { step, signal, watch, onDamaged }: FetchOptions,
): Promise<void> {
  const progress = emptyReadProgress(step);
  progress.expected = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const onBytes = (bytes: number) => {
    progress.done += bytes;
  };
  const unwatch = watch?.(progress);
  const fetch = async (file: WantedFile, _index: number, signal: AbortSignal) => {
    const path = join(folder, file.path);
    if (await isThere(path)) return;
    await makeFolders(folder, file.path);
    await bucket.fetchFile(file.key, path, { ...file, signal, onBytes }).catch((error: unknown) => {
      if (!onDamaged || !(error instanceof DamagedError)) throw error;
      onDamaged(file, error);
    });
  };
  try {
    await forEachOf(files, atOnce, fetch, signal);
  } finally {
    unwatch?.();
  }
}

/** The manifest of a run as an object to fetch, and the path for its copy. */
export function manifestOf({ folder, manifest }: BucketRun, path: string = manifestName): WantedFile {
  return { key: `${folder}/${manifestName}`, path, ...manifest };
}

/**
 * Fetches a run's manifest and the files that `wanted` selects (default: all) into an existing folder. If the manifest is invalid,
 * fetches nothing else.
 */
export async function fetchRun(
  bucket: Bucket,
  run: BucketRun,
  folder: string,
  options: Omit<FetchOptions, "step">,
  wanted: (manifest: Manifest) => readonly ListedFile[] = listedFiles,
): Promise<void> {
  await fetchFiles(bucket, folder, [manifestOf(run)], { ...options, step: "reading manifests" });
  const { manifest } = (await readManifest(folder)) ?? {};
  const listed = manifest ? wanted(manifest) : [];
  const files = listed.map((file) => ({ ...file, key: `${run.folder}/${file.path}` }));
  await fetchFiles(bucket, folder, files, { ...options, step: `fetching run ${run.run_id}` });
}
