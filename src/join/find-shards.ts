import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../errors.js";
import { shellText } from "../shell-text.js";
import { copyFrom, type FindOptions, findLocally, shardRunsInBucket } from "../store/find-named.js";
import { findRun } from "../store/find-run.js";
import { findShardRuns, foldersOf, runIdsIn, type ShardRun, shardOfFolder } from "../store/folder/job-folders.js";

/** The runs of shards from the command line. */
export interface FoundShards {
  /** Run folders; for runs in a bucket, the folders of their copies. */
  readonly folders: readonly string[];
  /** The shared output folder or bucket address; undefined if the shards were gathered elsewhere. */
  readonly dir: string | undefined;
  /** The job file by which the user named the shards; undefined if they were named otherwise. */
  readonly jobFile?: string | undefined;
  /** The work folder in the job file, if the shards are in a bucket. */
  readonly workFolder?: string | undefined;
  /** Sentences that tell the user which runs were chosen. */
  readonly notes: readonly string[];
}

/**
 * Finds the runs for the given words: the run folder of a shard, the job folder of a shard (its newest run), or a job (the newest
 * run of each of its shards). Throws UsageError for any other word, and if there is no run.
 */
export async function findShards(words: readonly string[], options: FindOptions): Promise<FoundShards> {
  const found: FoundShards[] = [];
  for (const word of words) found.push(await findOfWord(word, options));
  const isOneFolder = new Set(found.map(({ dir }) => dir)).size === 1;
  return {
    folders: found.flatMap(({ folders }) => folders),
    dir: isOneFolder ? found[0]?.dir : undefined,
    jobFile: found.find(({ jobFile }) => jobFile !== undefined)?.jobFile,
    workFolder: isOneFolder ? found.find(({ workFolder }) => workFolder !== undefined)?.workFolder : undefined,
    notes: found.flatMap(({ notes }) => notes),
  };
}

async function findOfWord(word: string, options: FindOptions): Promise<FoundShards> {
  const thing = await findLocally(word, options);
  if (thing.kind === "database")
    throw noShard(word, "it is a file; expected the run folder of a shard, or a job whose shards to join");
  if (thing.kind === "run folder") return runInFolder(thing.folder);
  const { location, file, run } = thing;
  const { dir, bucket } = location.output;
  if (run !== undefined && bucket === undefined)
    throw noShard(word, "it names one run of a job; name the job, or run folders");
  const job = bucket === undefined ? foldersOf(location).folder : `${bucket}/${location.name}`;
  if (run !== undefined) return oneRun(await findRun(word, options), job);
  const shards = bucket === undefined ? await findShardRuns(location) : await shardRunsInBucket(job, options);
  const { chosen, notes } = chooseRuns(shards, `${job}/shards`);
  if (chosen.length > 0) {
    const folders: string[] = [];
    for (const each of chosen) folders.push(bucket === undefined ? each : await findRun(each, options));
    const workFolder = bucket === undefined || file === undefined ? undefined : dir;
    return { folders, dir: bucket ?? dir, jobFile: file, workFolder, notes };
  }
  const newest = shards.length > 0 ? undefined : await newestRun(job, bucket !== undefined, options);
  if (newest === undefined)
    throw noShard(word, `no shard has a run in ${job}/shards yet; kbdump run --shard makes one`);
  return bucket === undefined ? runInFolder(newest) : oneRun(await findRun(newest, options), job);
}

async function runInFolder(folder: string): Promise<FoundShards> {
  const runs = dirname(await realpath(folder));
  return oneRun(folder, basename(runs) === "runs" ? dirname(runs) : undefined);
}

/**
 * The shard with this run folder. `shard`: the folder of the shard or its address in a bucket, `<job>/shards/<index>-of-<count>`;
 * empty if the run was copied from elsewhere.
 */
function oneRun(folder: string, shard = ""): FoundShards {
  const shards = dirname(shard);
  const isShard = shardOfFolder(basename(shard)) !== undefined && basename(shards) === "shards";
  return { folders: [folder], dir: isShard ? dirname(dirname(shards)) : undefined, notes: [] };
}

function noShard(word: string, message: string): UsageError {
  return new UsageError("No shards to join:", [{ path: shellText(word), message }]);
}

/** The newest run of a job, complete or not: its folder, or its address in a bucket. */
async function newestRun(job: string, isInBucket: boolean, options: FindOptions): Promise<string | undefined> {
  const [id] = isInBucket
    ? (await copyFrom(job, options)).head.runs.map(({ run_id }) => run_id).reverse()
    : await runIdsIn(join(job, "runs"));
  return id && `${job}/runs/${id}`;
}

/**
 * Chooses the newest runs of the shards, in order. If there are shards of several divisions, uses the division that ran last. `location`:
 * the folder or address of the shards.
 */
function chooseRuns(shards: readonly ShardRun[], location: string) {
  const runs = shards.flatMap(({ newest, ...shard }) => (newest === undefined ? [] : [{ ...shard, newest }]));
  const last = runs.toSorted((one, other) => (one.newest < other.newest ? 1 : -1))[0]?.count;
  const chosen = runs.filter(({ count }) => count === last).sort((one, other) => one.index - other.index);
  const counts = [...new Set(runs.map(({ count }) => count))].sort((one, other) => one - other);
  const notes =
    counts.length > 1
      ? [`${location} has shards of ${counts.join(" and of ")}; those of ${last} ran last, and are joined`]
      : [];
  return { chosen: chosen.map(({ index, count, newest }) => `${location}/${index}-of-${count}/runs/${newest}`), notes };
}
