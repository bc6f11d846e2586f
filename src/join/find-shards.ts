import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isThere } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import type { JobPlace } from "../job/job.js";
import { findPlace } from "../locate/find-named.js";
import { findRun } from "../locate/find-run.js";
import type { FindOptions, FoundJob } from "../locate/found-thing.js";
import { foldersOf, shardOfFolder, shardsFolderOf } from "../run/work/job-folders.js";
import { findNewestRun, findShardRuns } from "../run/work/shard-runs.js";
import { shellText } from "../shell-text.js";
import { type Choice, chooseRuns, type ShardRun } from "./choose-runs.js";
import { copyNewestRun, findShardsInBucket } from "./find-in-bucket.js";

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
  const isOnePlace = new Set(found.map(({ dir }) => dir)).size === 1;
  return {
    folders: found.flatMap(({ folders }) => folders),
    dir: isOnePlace ? found[0]?.dir : undefined,
    jobFile: found.find(({ jobFile }) => jobFile !== undefined)?.jobFile,
    workFolder: isOnePlace ? found.find(({ workFolder }) => workFolder !== undefined)?.workFolder : undefined,
    notes: found.flatMap(({ notes }) => notes),
  };
}

async function findOfWord(word: string, options: FindOptions): Promise<FoundShards> {
  const thing = await findPlace(word, options);
  if (thing.kind === "database")
    throw noShard(word, "it is a file; expected the run folder of a shard, or a job whose shards to join");
  if (thing.kind === "run folder") return oneRun(thing.folder, await outputOf(thing.folder));
  const { place, file, run } = thing;
  if (place.output.bucket !== undefined) return findInBucket(word, thing, place.output.bucket, options);
  if (run !== undefined) throw noShard(word, "it names one run of a job; name the job, or run folders");
  if (await isThere(shardsFolderOf(place))) return { ...(await findOfJob(word, place)), jobFile: file };
  const newest = await findNewestRun(foldersOf(place).runs);
  if (newest === undefined) throw noShard(word, `there is no run in ${foldersOf(place).runs}, and no folder of shards`);
  return oneRun(newest, await outputOf(newest));
}

async function findInBucket(
  word: string,
  { place, file, run }: FoundJob,
  bucket: string,
  options: FindOptions,
): Promise<FoundShards> {
  const url = `${bucket}/${place.name}`;
  if (run !== undefined) return oneRun(await findRun(word, options), outputAbove(url));
  const found = await findShardsInBucket(url, options);
  if (found) {
    const workFolder = file === undefined ? undefined : place.output.dir;
    return { ...shardsFound(word, found, `${url}/shards`), dir: bucket, jobFile: file, workFolder };
  }
  const newest = await copyNewestRun(url, options);
  if (newest === undefined) throw noShard(word, `there is no run in ${url}, and no shard`);
  return oneRun(newest, outputAbove(url));
}

function oneRun(folder: string, dir: string | undefined): FoundShards {
  return { folders: [folder], dir, jobFile: undefined, workFolder: undefined, notes: [] };
}

/** The output folder above `<job>/shards/<index>-of-<count>/runs/<run_id>`; undefined where a run does not lie so. */
async function outputOf(run: string): Promise<string | undefined> {
  const runs = dirname(await realpath(run));
  return basename(runs) === "runs" ? outputAbove(dirname(runs)) : undefined;
}

/** The output folder above `<job>/shards/<index>-of-<count>`; undefined for any other path. */
function outputAbove(shard: string): string | undefined {
  const shards = dirname(shard);
  return shardOfFolder(basename(shard)) && basename(shards) === "shards" ? dirname(dirname(shards)) : undefined;
}

/** The newest run of each shard of a job; of several divisions, those of the one that ran last. */
async function findOfJob(word: string, place: JobPlace): Promise<Omit<FoundShards, "jobFile">> {
  const shards = shardsFolderOf(place);
  const runs = (await findShardRuns(place)).flatMap(({ newest, ...shard }) =>
    newest === undefined ? [] : [{ ...shard, folder: newest }],
  );
  return { ...shardsFound(word, chooseRuns(runs, shards), shards), dir: place.output.dir, workFolder: undefined };
}

function shardsFound(word: string, { chosen, notes }: Choice<ShardRun>, place: string) {
  if (chosen.length === 0) throw noShard(word, `no shard has a run in ${place} yet; kbdump run --shard makes one`);
  return { folders: chosen.map(({ folder }) => folder), notes };
}

function noShard(word: string, message: string): UsageError {
  return new UsageError("No shards to join:", [{ path: shellText(word), message }]);
}
