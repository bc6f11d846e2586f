import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../errors.js";
import { isThere } from "../files/files.js";
import type { JobLocation, Shard } from "../job/job.js";
import { shellText } from "../shell-text.js";
import { copyRun } from "../store/copy/copy-run.js";
import { copyFrom, type FindOptions, findLocally, namesInBucket } from "../store/find-named.js";
import { findRun } from "../store/find-run.js";
import {
  findNewestRun,
  findShardRuns,
  foldersOf,
  shardFolderName,
  shardOfFolder,
  shardsFolderOf,
} from "../store/folder/job-folders.js";

/** The runs of shards that a command line names. */
export interface FoundShards {
  /** Run folders; of runs in a bucket, those of their copies. */
  readonly folders: readonly string[];
  /** The output folder, or the address in a bucket, that all of them lie in; undefined where they were gathered elsewhere. */
  readonly dir: string | undefined;
  /** The job file that named them; undefined where none did. */
  readonly jobFile: string | undefined;
  /** The work folder that the job file names, where the shards are in a bucket. */
  readonly workFolder: string | undefined;
  /** Sentences on what was chosen. */
  readonly notes: readonly string[];
}

/**
 * The runs that words stand for: the run folder of a shard, the job folder of one, which is its newest run, or a job, which is the
 * newest run of each of its shards. UsageError for any other word, and where there is no run.
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
  if (thing.kind === "run folder") {
    const runs = dirname(await realpath(thing.folder));
    return oneRun(thing.folder, basename(runs) === "runs" ? outputAbove(dirname(runs)) : undefined);
  }
  const { location, file, run } = thing;
  const { dir, bucket } = location.output;
  const job = bucket === undefined ? foldersOf(location).folder : `${bucket}/${location.name}`;
  if (run !== undefined && bucket === undefined)
    throw noShard(word, "it names one run of a job; name the job, or run folders");
  if (run !== undefined) return oneRun(await findRun(word, options), outputAbove(job));
  const found = bucket === undefined ? await shardsInFolder(location) : await shardsInBucket(job, options);
  if (found) {
    const { chosen, notes } = chooseRuns(found, `${job}/shards`);
    if (chosen.length === 0)
      throw noShard(word, `no shard has a run in ${job}/shards yet; kbdump run --shard makes one`);
    const folders: string[] = [];
    for (const each of chosen) folders.push(await each.folder());
    const workFolder = bucket === undefined || file === undefined ? undefined : dir;
    return { folders, dir: bucket ?? dir, jobFile: file, workFolder, notes };
  }
  const newest = bucket === undefined ? await newestInFolder(job) : await newestInBucket(job, options);
  if (!newest) throw noShard(word, `there is no run in ${job}, and no folder of shards`);
  const folder = await newest.folder();
  return oneRun(folder, outputAbove(bucket === undefined ? dirname(dirname(await realpath(folder))) : job));
}

function oneRun(folder: string, dir: string | undefined): FoundShards {
  return { folders: [folder], dir, jobFile: undefined, workFolder: undefined, notes: [] };
}

/** The output folder above `<job>/shards/<index>-of-<count>`; undefined for any other path. */
function outputAbove(shard: string): string | undefined {
  const shards = dirname(shard);
  return shardOfFolder(basename(shard)) && basename(shards) === "shards" ? dirname(dirname(shards)) : undefined;
}

function noShard(word: string, message: string): UsageError {
  return new UsageError("No shards to join:", [{ path: shellText(word), message }]);
}

/** A run in a folder or a bucket. */
interface RunToJoin {
  readonly runId: string;
  /** Gives the folder of its files, which are copied from a bucket. */
  readonly folder: () => Promise<string>;
}

type ShardRun = Shard & RunToJoin;

/** The newest run of each shard of a job; undefined where the job has no folder of shards. */
async function shardsInFolder(location: JobLocation): Promise<readonly ShardRun[] | undefined> {
  if (!(await isThere(shardsFolderOf(location)))) return undefined;
  const shards = await findShardRuns(location);
  return shards.flatMap(({ newest, ...shard }) => (newest === undefined ? [] : [{ ...shard, ...runIn(newest) }]));
}

async function newestInFolder(job: string): Promise<RunToJoin | undefined> {
  const newest = await findNewestRun(join(job, "runs"));
  return newest === undefined ? undefined : runIn(newest);
}

const runIn = (folder: string): RunToJoin => ({ runId: basename(folder), folder: async () => folder });

/** The same of a job in a bucket, by its address. */
async function shardsInBucket(job: string, options: FindOptions): Promise<readonly ShardRun[] | undefined> {
  const shards = (await namesInBucket(`${job}/shards`, options)).flatMap((name) => shardOfFolder(name) ?? []);
  const found: ShardRun[] = [];
  for (const shard of shards) {
    const newest = await newestInBucket(`${job}/shards/${shardFolderName(shard)}`, options);
    if (newest) found.push({ ...shard, ...newest });
  }
  return shards.length === 0 ? undefined : found;
}

async function newestInBucket(job: string, options: FindOptions): Promise<RunToJoin | undefined> {
  const copy = await copyFrom(job, options);
  const run = copy.head.runs.at(-1);
  if (!run) return undefined;
  const folder = async () => {
    await copyRun(copy, run);
    return join(copy.folder, "runs", run.run_id);
  };
  return { runId: run.run_id, folder };
}

/** Chooses among the shards of several divisions those of the one that ran last, in their order. `location`: where they are, for people. */
function chooseRuns(runs: readonly ShardRun[], location: string) {
  const newest = runs.toSorted((one, other) => (one.runId < other.runId ? 1 : -1))[0]?.count;
  const chosen = runs.filter(({ count }) => count === newest).sort((one, other) => one.index - other.index);
  const counts = [...new Set(runs.map(({ count }) => count))].sort((one, other) => one - other);
  const notes =
    counts.length > 1
      ? [`${location} has shards of ${counts.join(" and of ")}; those of ${newest} ran last, and are joined`]
      : [];
  return { chosen, notes };
}
