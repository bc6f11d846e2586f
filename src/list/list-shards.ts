import { basename } from "node:path";
import type { JobPlace } from "../job/job.js";
import { headFrom, headKey } from "../store/bucket/head.js";
import { type JobCopy, withBucket } from "../store/copy/job-copy.js";
import { findShardRuns, type ShardRun, shardOfFolder } from "../store/folder/job-folders.js";

/** The shards of one division of a job, such as all of `3/16`. */
export interface ShardSet {
  /** The number of shards that make a run. */
  readonly count: number;
  /** Indexes of the shards without a run. */
  readonly missing: readonly number[];
  /** The id of the newest run of any of them; undefined where none has one. */
  readonly newestRunId: string | undefined;
}

/** The divisions of which a job has shards, the smallest first; reads the names of folders only, and the heads of a bucket. */
export async function listShards(place: JobPlace, copy: JobCopy | undefined): Promise<readonly ShardSet[]> {
  const runs = copy ? await shardRunsInBucket(copy) : await findShardRuns(place);
  const counts = new Set(runs.map(({ count }) => count));
  return [...counts]
    .sort((one, other) => one - other)
    .map((count) => {
      const done = new Map(
        runs.flatMap(({ index, newest, ...run }) => (run.count === count && newest ? [[index, basename(newest)]] : [])),
      );
      const all = Array.from({ length: count }, (_, at) => at + 1);
      return {
        count,
        missing: all.filter((index) => !done.has(index)),
        newestRunId: [...done.values()].sort().at(-1),
      };
    });
}

async function shardRunsInBucket({ url, options }: JobCopy): Promise<readonly ShardRun[]> {
  return withBucket(`${url}/shards`, options, async (bucket) => {
    const found: ShardRun[] = [];
    for await (const name of bucket.folders("")) {
      const shard = shardOfFolder(name);
      const head = shard && (await bucket.read(`${name}/${headKey}`));
      if (!shard || !head) continue;
      const { runs } = headFrom(head.bytes, `${bucket.url}/${name}/${headKey}`);
      found.push({ ...shard, newest: runs.at(-1)?.run_id });
    }
    return found;
  });
}
