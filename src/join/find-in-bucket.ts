import { join } from "node:path";
import { copyRun } from "../bucket/copy/copy-run.js";
import type { JobCopy } from "../bucket/copy/job-copy.js";
import type { BucketRun } from "../bucket/head.js";
import { copyFrom, namesInBucket } from "../locate/find-in-bucket.js";
import type { FindOptions } from "../locate/found-thing.js";
import { shardFolderName, shardOfFolder } from "../run/work/job-folders.js";
import { type Choice, chooseRuns, type ShardRun } from "./choose-runs.js";

/** The newest run of a shard in a bucket, and the copy that its files are to come into. */
interface RunToCopy extends ShardRun {
  readonly copy: JobCopy;
  readonly run: BucketRun;
}

/**
 * The newest run of each shard of a job in a bucket, with its files copied. Undefined where the job has no folder of shards.
 * `url`: `s3://bucket/prefix/<job>`.
 */
export async function findShardsInBucket(url: string, options: FindOptions): Promise<Choice<ShardRun> | undefined> {
  const place = `${url}/shards`;
  const shards = (await namesInBucket(place, options)).flatMap((name) => shardOfFolder(name) ?? []);
  if (shards.length === 0) return undefined;
  const runs: RunToCopy[] = [];
  for (const shard of shards) {
    const newest = await newestRun(`${place}/${shardFolderName(shard)}`, options);
    if (newest) runs.push({ ...shard, ...newest });
  }
  const { chosen, notes } = chooseRuns(runs, place);
  for (const { copy, run } of chosen) await copyRun(copy, run);
  return { chosen, notes };
}

/** The folder of the copy of the newest run of a job, or of a shard. Undefined where there is no run. */
export async function copyNewestRun(url: string, options: FindOptions): Promise<string | undefined> {
  const newest = await newestRun(url, options);
  if (newest) await copyRun(newest.copy, newest.run);
  return newest?.folder;
}

async function newestRun(url: string, options: FindOptions): Promise<Omit<RunToCopy, "index" | "count"> | undefined> {
  const copy = await copyFrom(url, options);
  const run = copy.head.runs.at(-1);
  return run && { copy, run, folder: join(copy.folder, "runs", run.run_id) };
}
