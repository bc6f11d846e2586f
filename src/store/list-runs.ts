import { readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { JobLocation } from "../job/job.js";
import { fetchManifestsOf, type JobCopy } from "./bucket/fetch-run.js";
import { mayTakeOver } from "./bucket/head.js";
import { shardRunsInBucket } from "./find-named.js";
import { findShardRuns, foldersOf, type JobFolders } from "./folder/job-folders.js";
import { holderOf, readLock } from "./folder/lock.js";
import { decideRuns, type KeepRule, type RunFolder, readPastRuns, type Stranger } from "./keep-runs.js";

export interface ListedRun extends RunFolder {
  readonly folder: string;
  /** Whether `latest` points to the run. */
  readonly isLatest: boolean;
  /** The rules of `output.keep` that keep the run; empty: the next run removes it; null: the rules are unknown. */
  readonly keptBy: readonly KeepRule[] | null;
}

/** The process of a run in progress; a value is null if unknown. */
export interface RunAtWork {
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
}

export interface RunList {
  readonly job: string;
  readonly folder: string;
  /** The published runs, newest first. */
  readonly runs: readonly ListedRun[];
  /** Entries in the folder of runs that are not runs, with the reason. */
  readonly strangers: readonly Stranger[];
  readonly atWork: RunAtWork | undefined;
  readonly shards: readonly ShardSet[];
}

/**
 * Lists the runs of a job from their manifests, and its shards from their folders. Reads no other file and changes nothing.
 * `copy`: the local copy of a job in a bucket.
 */
export async function listRuns(location: JobLocation, now: Date, copy?: JobCopy): Promise<RunList> {
  const folders = foldersOf(location);
  if (copy) await fetchManifestsOf(copy, copy.head.runs);
  const { runs, strangers } = await readPastRuns(folders.runs, location.name);
  const url = copy?.url;
  const latest = basename(await readlink(join(folders.folder, "latest")).catch(() => ""));
  const { keep } = location.output;
  const rules = new Map(keep && decideRuns(runs, keep).map(({ runId, rules }) => [runId, rules]));
  const listed = runs.map((run) => ({
    ...run,
    folder: url === undefined ? join(folders.runs, run.runId) : `${url}/runs/${run.runId}`,
    isLatest: run.runId === latest,
    keptBy: rules.get(run.runId) ?? null,
  }));
  const owner = await ownerOf(folders, now, copy);
  const shards = await listShards(location, copy);
  const { pid = null, host = null, since = null } = owner ?? {};
  const atWork = owner ? { pid, host, since } : undefined;
  return { job: location.name, folder: url ?? folders.folder, runs: listed.reverse(), strangers, atWork, shards };
}

/** The owner of the lease named in the bucket's head, or of the lock, unless it is stale. */
async function ownerOf(
  { private: hidden }: JobFolders,
  now: Date,
  copy?: JobCopy,
): Promise<Partial<RunAtWork> | null | undefined> {
  if (copy) return mayTakeOver(copy.head, copy.age) ? undefined : copy.head.owner;
  const lock = await readLock(join(hidden, "lock"));
  const holder = lock && (await holderOf(lock, now.getTime()));
  return holder && (holder.owner ?? {});
}

/** The shards of a job that was divided into `count` parts. */
export interface ShardSet {
  /** The number of shards in a run. */
  readonly count: number;
  /** The indexes of shards that have no run. */
  readonly missing: readonly number[];
  /** The id of the newest run of any shard; undefined if there is none. */
  readonly newestRunId: string | undefined;
}

/** The shards of a job, grouped by the number of parts, smallest first. Reads only folder names and the heads of a bucket. */
async function listShards(location: JobLocation, copy: JobCopy | undefined): Promise<readonly ShardSet[]> {
  const runs = copy ? await shardRunsInBucket(copy.url, copy.options) : await findShardRuns(location);
  const counts = [...new Set(runs.map(({ count }) => count))].sort((one, other) => one - other);
  return counts.map((count) => {
    const done = runs.filter((run) => run.count === count && run.newest !== undefined);
    const indexes = new Set(done.map(({ index }) => index));
    return {
      count,
      missing: Array.from({ length: count }, (_, at) => at + 1).filter((index) => !indexes.has(index)),
      newestRunId: done
        .map(({ newest }) => newest)
        .sort()
        .at(-1),
    };
  });
}
