import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isThere } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import type { JobPlace } from "../job/job.js";
import { type FindOptions, findNamed } from "../locate/find-named.js";
import { foldersOf, shardOfFolder, shardsFolderOf } from "../run/work/job-folders.js";
import { findNewestRun, findShardRuns } from "../run/work/shard-runs.js";
import { shellText } from "../shell-text.js";

/** The runs of shards that a command line names. */
export interface FoundShards {
  /** Run folders. */
  readonly folders: readonly string[];
  /** The output folder that all of them lie in; undefined where they were gathered elsewhere. */
  readonly dir: string | undefined;
  /** The job file that named them; undefined where none did. */
  readonly jobFile: string | undefined;
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
  const dirs = new Set(found.map(({ dir }) => dir));
  return {
    folders: found.flatMap(({ folders }) => folders),
    dir: dirs.size === 1 ? found[0]?.dir : undefined,
    jobFile: found.find(({ jobFile }) => jobFile !== undefined)?.jobFile,
    notes: found.flatMap(({ notes }) => notes),
  };
}

async function findOfWord(word: string, options: FindOptions): Promise<FoundShards> {
  const thing = await findNamed(word, options);
  if (thing.kind === "database")
    throw noShard(word, "it is a file; expected the run folder of a shard, or a job whose shards to join");
  if (thing.kind === "run folder") return oneRun(thing.folder);
  const { place, file, run } = thing;
  if (run !== undefined) throw noShard(word, "it names one run of a job; name the job, or run folders");
  if (await isThere(shardsFolderOf(place))) return { ...(await findOfJob(word, place)), jobFile: file };
  const newest = await findNewestRun(foldersOf(place).runs);
  if (newest === undefined) throw noShard(word, `there is no run in ${foldersOf(place).runs}, and no folder of shards`);
  return oneRun(newest);
}

async function oneRun(folder: string): Promise<FoundShards> {
  return { folders: [folder], dir: await outputOf(folder), jobFile: undefined, notes: [] };
}

/** The output folder above `<job>/shards/<index>-of-<count>/runs/<run_id>`; undefined where a run does not lie so. */
async function outputOf(run: string): Promise<string | undefined> {
  const runs = dirname(await realpath(run));
  const shard = dirname(runs);
  const shards = dirname(shard);
  const isInPlace = basename(runs) === "runs" && shardOfFolder(basename(shard)) && basename(shards) === "shards";
  return isInPlace ? dirname(dirname(shards)) : undefined;
}

/** The newest run of each shard of a job; of several divisions, those of the one that ran last. */
async function findOfJob(word: string, place: JobPlace): Promise<Omit<FoundShards, "jobFile">> {
  const shards = shardsFolderOf(place);
  const runs = (await findShardRuns(place)).flatMap(({ count, newest }) => (newest ? [{ count, folder: newest }] : []));
  const [newest] = runs.toSorted((one, other) => (basename(one.folder) < basename(other.folder) ? 1 : -1));
  if (!newest) throw noShard(word, `no shard has a run in ${shards} yet; kbdump run --shard makes one`);
  const chosen = runs.filter(({ count }) => count === newest.count);
  const counts = [...new Set(runs.map(({ count }) => count))];
  const notes =
    counts.length > 1
      ? [`${shards} has shards of ${counts.join(" and of ")}; those of ${newest.count} ran last, and are joined`]
      : [];
  return { folders: chosen.map(({ folder }) => folder), dir: place.output.dir, notes };
}

function noShard(word: string, message: string): UsageError {
  return new UsageError("No shards to join:", [{ path: shellText(word), message }]);
}
