import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type ManifestShard, manifestName } from "../dump/manifest.js";
import { type Dump, openDump, UnsoundError } from "../dump/open-dump.js";
import { StopError, UsageError } from "../errors.js";
import { isThere } from "../files/files.js";
import { fingerprint } from "../files/join-segments.js";
import type { JobLocation, Shard } from "../job/job.js";
import { shellText } from "../shell-text.js";
import type { BucketRun } from "../store/bucket/head.js";
import { copyRun } from "../store/copy/copy-run.js";
import type { JobCopy } from "../store/copy/job-copy.js";
import { copyFrom, type FindOptions, type FoundJob, findLocally, namesInBucket } from "../store/find-named.js";
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
  if (thing.kind === "run folder") return oneRun(thing.folder, await outputOf(thing.folder));
  const { location, file, run } = thing;
  if (location.output.bucket !== undefined) return findInBucket(word, thing, location.output.bucket, options);
  if (run !== undefined) throw noShard(word, "it names one run of a job; name the job, or run folders");
  if (await isThere(shardsFolderOf(location))) return { ...(await findOfJob(word, location)), jobFile: file };
  const newest = await findNewestRun(foldersOf(location).runs);
  if (newest === undefined)
    throw noShard(word, `there is no run in ${foldersOf(location).runs}, and no folder of shards`);
  return oneRun(newest, await outputOf(newest));
}

async function findInBucket(
  word: string,
  { location, file, run }: FoundJob,
  bucket: string,
  options: FindOptions,
): Promise<FoundShards> {
  const url = `${bucket}/${location.name}`;
  if (run !== undefined) return oneRun(await findRun(word, options), outputAbove(url));
  const found = await findShardsInBucket(url, options);
  if (found) {
    const workFolder = file === undefined ? undefined : location.output.dir;
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
async function findOfJob(word: string, location: JobLocation): Promise<Omit<FoundShards, "jobFile">> {
  const shards = shardsFolderOf(location);
  const runs = (await findShardRuns(location)).flatMap(({ newest, ...shard }) =>
    newest === undefined ? [] : [{ ...shard, folder: newest }],
  );
  return { ...shardsFound(word, chooseRuns(runs, shards), shards), dir: location.output.dir, workFolder: undefined };
}

function shardsFound(word: string, { chosen, notes }: Choice<ShardRun>, location: string) {
  if (chosen.length === 0) throw noShard(word, `no shard has a run in ${location} yet; kbdump run --shard makes one`);
  return { folders: chosen.map(({ folder }) => folder), notes };
}

function noShard(word: string, message: string): UsageError {
  return new UsageError("No shards to join:", [{ path: shellText(word), message }]);
}

/** The newest run of a shard in a bucket, and the copy that its files are to come into. */
interface RunToCopy extends ShardRun {
  readonly copy: JobCopy;
  readonly run: BucketRun;
}

/**
 * The newest run of each shard of a job in a bucket, with its files copied. Undefined where the job has no folder of shards.
 * `url`: `s3://bucket/prefix/<job>`.
 */
async function findShardsInBucket(url: string, options: FindOptions): Promise<Choice<ShardRun> | undefined> {
  const location = `${url}/shards`;
  const shards = (await namesInBucket(location, options)).flatMap((name) => shardOfFolder(name) ?? []);
  if (shards.length === 0) return undefined;
  const runs: RunToCopy[] = [];
  for (const shard of shards) {
    const newest = await newestRun(`${location}/${shardFolderName(shard)}`, options);
    if (newest) runs.push({ ...shard, ...newest });
  }
  const { chosen, notes } = chooseRuns(runs, location);
  for (const { copy, run } of chosen) await copyRun(copy, run);
  return { chosen, notes };
}

/** The folder of the copy of the newest run of a job, or of a shard. Undefined where there is no run. */
async function copyNewestRun(url: string, options: FindOptions): Promise<string | undefined> {
  const newest = await newestRun(url, options);
  if (newest) await copyRun(newest.copy, newest.run);
  return newest?.folder;
}

async function newestRun(url: string, options: FindOptions): Promise<Omit<RunToCopy, "index" | "count"> | undefined> {
  const copy = await copyFrom(url, options);
  const run = copy.head.runs.at(-1);
  return run && { copy, run, folder: join(copy.folder, "runs", run.run_id) };
}

/** A shard of a job, and its newest run. */
interface ShardRun extends Shard {
  /** The run folder, which is named after the run. */
  readonly folder: string;
}

/** The runs to join, in the order of their shards, and sentences on the choice. */
interface Choice<Run> {
  readonly chosen: readonly Run[];
  readonly notes: readonly string[];
}

/** Chooses among the shards of several divisions those of the one that ran last. `place`: where they are, for people. */
function chooseRuns<Run extends ShardRun>(runs: readonly Run[], location: string): Choice<Run> {
  const newest = runs.toSorted((one, other) => (basename(one.folder) < basename(other.folder) ? 1 : -1))[0]?.count;
  const chosen = runs.filter(({ count }) => count === newest).sort((one, other) => one.index - other.index);
  const counts = [...new Set(runs.map(({ count }) => count))].sort((one, other) => one - other);
  const notes =
    counts.length > 1
      ? [`${location} has shards of ${counts.join(" and of ")}; those of ${newest} ran last, and are joined`]
      : [];
  return { chosen, notes };
}

/** The run of a shard. */
export interface ShardDump {
  readonly dump: Dump;
  readonly shard: ManifestShard;
  /** In hex. */
  readonly manifestHash: string;
}

/** The consequence of an unsound shard, in errors. */
const consequence = "nothing was joined";

/** Opens runs of shards. Throws one error for all: UsageError for a run of no shard, UnsoundError for manifests that are not sound. */
export async function openShards(folders: readonly string[]): Promise<readonly ShardDump[]> {
  const shards: ShardDump[] = [];
  const unsound: UnsoundError[] = [];
  const whole: string[] = [];
  for (const folder of folders) {
    const dump = await openDump(folder, consequence).catch((error: unknown) => {
      if (error instanceof UnsoundError) unsound.push(error);
      else throw error;
    });
    if (!dump) continue;
    const { shard } = dump.manifest;
    if (!shard) whole.push(folder);
    else shards.push({ dump, shard, manifestHash: (await fingerprint(join(dump.folder, manifestName))).sha256 });
  }
  if (whole.length > 0) {
    const message = "it is no shard: it was made without --shard";
    throw new UsageError(
      "Only shards can be joined:",
      whole.map((path) => ({ path, message })),
    );
  }
  const [first] = unsound;
  if (first) throw unsound.length === 1 ? first : refusal(unsound.map(({ message }) => message));
  return shards.sort((one, other) => one.shard.index - other.shard.index);
}

/** The error of shards that cannot be joined, with every reason. */
export function refusal(reasons: readonly string[]): StopError {
  return new StopError(
    `The shards cannot be joined, and nothing was published:\n${reasons.map((reason) => `  ${reason}`).join("\n")}`,
  );
}
