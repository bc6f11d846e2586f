import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent } from "../../dump/files/is-there.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import type { JobPlace, Shard } from "../../job/job.js";
import { shardOfFolder, shardsFolderOf } from "./job-folders.js";

/** A shard that has a folder in that of its job, and the folder of its newest run; undefined where it has none. */
export interface ShardRun extends Shard {
  readonly newest: string | undefined;
}

/** The shards that have a folder in that of a job, by their counts and then their indexes; none where the job has no shards. */
export async function findShardRuns(place: JobPlace): Promise<readonly ShardRun[]> {
  const folder = shardsFolderOf(place);
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
