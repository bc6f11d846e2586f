import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { manifestName } from "../../dump/manifest.js";
import { StopError } from "../../errors.js";
import { ifAbsent, makeFolders, writeAside } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import type { Bucket, ObjectFacts } from "../bucket/bucket.js";
import type { BucketRun } from "../bucket/head.js";
import { makeFolder } from "../folder/job-folders.js";
import { keepInUse, writingCache } from "./cache.js";
import { bytesOf, fetchAll, fetchAside, removalOf } from "./copy-run.js";
import { asideName, type JobCopy, withBucket } from "./job-copy.js";
import { makeRoom } from "./make-room.js";

/** Fetches of a database that is replaced each time, before that is an error. */
const mostTries = 3;

/** A database, and the place of its copy. */
interface Source {
  readonly key: string;
  readonly path: string;
}

/** Fetches the database of a job into the cache, unless the copy is current. The path of the copy; undefined where the job has none. */
export async function copyDatabase(job: JobCopy): Promise<string | undefined> {
  const key = `${job.job}.duckdb`;
  const path = join(job.folder, key);
  return writingCache(job.cache, async () => {
    await keepInUse(path, job.options.signal); // first, so that no other process removes a copy that is current
    const isThere = await withBucket(job.url, job.options, (bucket) =>
      fetchCurrentDatabase(bucket, job, { key, path }),
    );
    if (isThere) return path;
    await rm(path, { force: true });
    return undefined;
  });
}

/** Resolves to whether the bucket has a database. It is fetched again where it is replaced while it is fetched. */
async function fetchCurrentDatabase(bucket: Bucket, job: JobCopy, source: Source): Promise<boolean> {
  let facts = await bucket.look(source.key);
  for (let tries = 1; facts; tries++) {
    if (await isCurrent(job, source, facts)) return true;
    try {
      await fetchDatabase(bucket, job, source, facts);
      return true;
    } catch (error) {
      const now = await bucket.look(source.key);
      if (tries === mostTries || now?.etag === facts.etag) throw error;
      facts = now;
    }
  }
  return false;
}

async function fetchDatabase(bucket: Bucket, job: JobCopy, { key, path }: Source, facts: ObjectFacts): Promise<void> {
  const { bytes, sha256 } = facts;
  await makeRoom(job.cache, { url: `${job.url}/${key}`, whole: bytes, missing: bytes });
  await fetchAside(bucket, job, { step: `fetching ${key}`, files: [{ key, path, bytes, sha256 }] });
  const { ino } = await stat(path);
  await writeAside(noteOf(job), noteText(facts, ino), { aside: `${noteOf(job)}.${process.pid}` });
}

/** Whether the copy is of the object with this ETag. The note names the file, too: another process may replace both at the same time. */
async function isCurrent(job: JobCopy, { path }: Source, facts: ObjectFacts): Promise<boolean> {
  const file = await stat(path).catch(ifAbsent(undefined));
  if (file?.size !== facts.bytes) return false;
  const note = await readFile(noteOf(job), "utf8").catch(ifAbsent(undefined));
  return note === noteText(facts, file.ino);
}

function noteOf({ folder }: JobCopy): string {
  return join(folder, asideName, "database.json");
}

function noteText({ etag, bytes }: ObjectFacts, ino: number): string {
  return `${JSON.stringify({ etag, bytes, ino })}\n`;
}

/** A run exactly as it lies in the bucket now, damaged or not. */
interface RunMirror {
  readonly folder: string;
  /** The SHA-256 of manifest.json is the one that head.json says. */
  readonly isListed: boolean;
  /** Makes the mirror the copy that other commands use: it has proved sound. */
  readonly accept: () => Promise<void>;
  /** Removes the mirror; does nothing where it was accepted. */
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
      return { folder, isListed, accept: () => moveTo(job, run, folder, paths), remove };
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
