import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Manifest } from "../../dump/manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { ifAbsent, refuseLink } from "../../files/files.js";
import type { JobLocation, Shard } from "../../job/job.js";
import type { Bucket } from "../bucket/bucket.js";

/** The paths of a job. */
export interface JobFolders {
  /** `output/<job>`; of a shard, `output/<job>/shards/<index>-of-<count>` */
  readonly folder: string;
  /** The folders of the job that `folder` is in; none but for a shard. */
  readonly above: readonly string[];
  /** `output/<job>/<job>.duckdb` */
  readonly database: string;
  /** The database as users know it: its address where the job has a bucket. */
  readonly shownDatabase: string;
  /** `output/<job>/runs` */
  readonly runs: string;
  /** `output/<job>/.work`: nothing in it is for readers. */
  readonly private: string;
  /** Readings of `kbdump status` that wait for the next run. */
  readonly waiting: string;
}

/** The rights of a process that holds a job. */
export interface LeasedJob extends JobFolders {
  /** Names this hold and no other. */
  readonly token: string;
  /**
   * `.work/<token>`, used by this process alone. Every rename that publishes has its source in it, and every rename that removes
   * something has its target in it. A successor first renames and removes this folder (it fences us), so that our late
   * operations fail. This process never makes the folder again.
   */
  readonly own: string;
  /** Aborted, with a LostError, when the job is no longer ours. */
  readonly lost: AbortSignal;
  /** The bucket that the job publishes into; absent: it publishes into its folder alone. */
  readonly remote?: Remote;
}

/** The folder in that of a job in which each of its shards has one. */
export function shardsFolderOf({ name, output }: JobLocation): string {
  return join(output.dir, name, "shards");
}

/** The folder of a shard among those of its job. */
export function shardFolderName({ index, count }: Shard): string {
  return `${index}-of-${count}`;
}

/** The shard that has a folder of this name; undefined for any other name. */
export function shardOfFolder(name: string): Shard | undefined {
  const [, index, count] = /^([1-9]\d{0,4})-of-([1-9]\d{0,4})$/.exec(name) ?? [];
  return index === undefined ? undefined : { index: Number(index), count: Number(count) };
}

/** Names the folders of a job, or of a shard of it, which has a lock and runs of its own; makes none. */
export function foldersOf(location: JobLocation): JobFolders {
  const { name, output, shard } = location;
  const whole = join(output.dir, name);
  const shards = shardsFolderOf(location);
  const folder = shard ? join(shards, shardFolderName(shard)) : whole;
  const database = join(folder, `${name}.duckdb`);
  const hidden = join(folder, ".work");
  return {
    folder,
    above: shard ? [whole, shards] : [],
    database,
    shownDatabase: shownPath(location, database),
    runs: join(folder, "runs"),
    private: hidden,
    waiting: join(hidden, "indexing_status"),
  };
}

/** The folder of the exchanges, in which the workers of a run leave what they read: `.work/exchange`. */
export function exchangesOf({ private: hidden }: Pick<JobFolders, "private">): string {
  return join(hidden, "exchange");
}

/** Makes a folder that only its owner can read, and those above it. A link in its place is refused. */
export async function makeFolder(path: string): Promise<void> {
  await refuseLink(path);
  await makeFolders(path);
}

/** Node's own way (`recursive`) goes on for ever where a file system takes no folders, and hides that one is read-only. */
async function makeFolders(path: string): Promise<void> {
  if (await makeOne(path)) return;
  await makeFolders(dirname(path));
  if (!(await makeOne(path)))
    throw new StopError(`${path} cannot be made: the file system of ${dirname(path)} takes no new folders`);
}

/** Makes one folder, if there is none; false: the one above it is missing, or so the system says. */
async function makeOne(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isDirectory()) throw error;
  }
  return true;
}

/**
 * Makes a folder below that of a holder, but none above it: a holder that was fenced must not bring its folder back. One
 * that is there already is fine.
 */
export async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Refuses what would lead out of the folder of a job. */
export async function refuseLinks(folders: JobFolders): Promise<void> {
  const { folder, above, database, runs, private: hidden, waiting } = folders;
  for (const path of [...above, folder, database, runs, hidden, waiting]) await refuseLink(path);
}

/** A shard that has a folder in that of its job, and the folder of its newest run; undefined where it has none. */
export interface ShardRun extends Shard {
  readonly newest: string | undefined;
}

/** The shards that have a folder in that of a job, by their counts and then their indexes; none where the job has no shards. */
export async function findShardRuns(location: JobLocation): Promise<readonly ShardRun[]> {
  const folder = shardsFolderOf(location);
  const names = await readdir(folder).catch(ifAbsent<string[]>([]));
  const found: ShardRun[] = [];
  for (const name of names) {
    const shard = shardOfFolder(name);
    if (shard) found.push({ ...shard, newest: await findNewestRun(join(folder, name, "runs")) });
  }
  return found.sort((one, other) => one.count - other.count || one.index - other.index);
}

/** The newest run in a folder of runs; undefined where there is none. */
export async function findNewestRun(runs: string): Promise<string | undefined> {
  const names = await readdir(runs).catch(ifAbsent<string[]>([]));
  const newest = names.filter(isRunId).sort().at(-1);
  return newest === undefined ? undefined : join(runs, newest);
}

/**
 * The bucket of a job, as the run that holds it uses it. Whatever is published goes there first, and then into the work folder,
 * which has the layout of any folder of a job but keeps no rows of its runs. Every change rejects with LostError once another
 * run has taken over.
 */
export interface Remote {
  /** Uploads the files of a staged run; readers do not see them. Resolves to the commit, which makes a dump of them. */
  readonly uploadRun: (manifest: Manifest, stage: string, signal: AbortSignal) => Promise<() => Promise<void>>;
  /** Writes the manifest and the rows of a published run into a new folder, which stands in a folder of its holder. */
  readonly fetchRun: (runId: string, folder: string, signal: AbortSignal) => Promise<void>;
  /** Makes the database in the work folder that of the bucket. False, and nothing is done, where it has more bytes than `most`. */
  readonly fetchDatabase: (most?: number) => Promise<boolean>;
  /** Replaces the database, which must still be the one that `fetchDatabase` found. StopError where it is not. */
  readonly publishDatabase: (path: string) => Promise<void>;
  readonly publishReport: (path: string) => Promise<void>;
  /** Takes a run off the list, and removes its files. */
  readonly dropRun: (runId: string) => Promise<void>;
  /** The place of the job, for the exchange of a run. Only what head.json lists is a dump. */
  readonly bucket: Bucket;
  /** Does work again, which must do no harm twice, while the store is gone for as long as `service.outage` allows. */
  readonly retryUntilBack: <T>(work: () => Promise<T>) => Promise<T>;
  /** Rejects with LostError unless the job is still held. */
  readonly confirm: () => Promise<void>;
}

/** A path below the folder of a job as users know it: where the job has a bucket, its address there. */
export function shownPath({ output }: JobLocation, path: string): string {
  return output.bucket === undefined ? path : `${output.bucket}/${relative(output.dir, path)}`;
}
