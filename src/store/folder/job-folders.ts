import { readdir, readlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { readRunFacts } from "../../dump/read-manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { ifAbsent, refuseLink } from "../../files/files.js";
import type { JobLocation, Shard } from "../../job/job.js";
import type { Bucket } from "../bucket/bucket.js";
import type { JobStore } from "../job-store.js";

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

/** The folder of a job with that of its owner. */
export interface OwnFolder extends JobFolders {
  /**
   * `.work/<token>`, used by this process alone. Every rename that publishes has its source in it, and every rename that removes
   * something has its target in it. A successor first renames and removes this folder (it fences us), so that our late
   * operations fail. This process never makes the folder again.
   */
  readonly own: string;
}

/** The rights of a process that has the lease of a job. */
export interface LeasedJob extends OwnFolder {
  /** Names this lease and no other. */
  readonly token: string;
  /** Where the job publishes. */
  readonly store: JobStore;
  /** Aborted, with a LostError, when the job is no longer ours. */
  readonly lost: AbortSignal;
  /** The bucket that the job publishes into, for the exchange of a run; absent: it publishes into its folder. */
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
  const [newest] = await runIdsIn(runs);
  return newest === undefined ? undefined : join(runs, newest);
}

/** The ids of the runs in a folder of runs, newest first; those older than `before` if it is given. */
export async function runIdsIn(runs: string, before?: string): Promise<readonly string[]> {
  const names = await readdir(runs).catch(ifAbsent<string[]>([]));
  const isWanted = (name: string) => isRunId(name) && (before === undefined || name < before);
  return names.filter(isWanted).sort().reverse();
}

/**
 * The id of the newest complete run, of that job and older than `before` if they are given. Reads manifests from the newest on, and stops
 * at the first match. Without a job, the run that `latest` leads to counts as complete, whatever its manifest says.
 */
export async function newestComplete(
  { folder, runs }: Pick<JobFolders, "folder" | "runs">,
  { job, before }: { readonly job?: string; readonly before?: string | undefined } = {},
): Promise<string | undefined> {
  const latest = await readlink(join(folder, "latest")).catch(() => undefined);
  for (const id of await runIdsIn(runs, before)) {
    if (job === undefined && latest === join("runs", id)) return id;
    const facts = await readRunFacts(join(runs, id));
    if (facts?.status !== "complete") continue;
    if (job === undefined || (facts.job === job && facts.run_id === id)) return id;
  }
  return undefined;
}

/** The bucket of a job, for the owner of its lease. */
export interface Remote {
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
