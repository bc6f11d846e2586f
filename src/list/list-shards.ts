import { basename } from "node:path";
import type { JobPlace } from "../job/job.js";
import { findShardRuns } from "../run/work/shard-runs.js";

/** The shards of one division of a job, such as all of `3/16`. */
export interface ShardSet {
  /** The number of shards that make a run. */
  readonly count: number;
  /** Indexes of the shards without a run. */
  readonly missing: readonly number[];
  /** The id of the newest run of any of them; undefined where none has one. */
  readonly newestRunId: string | undefined;
}

/** The divisions of which a job has shards, the smallest first; reads the names of folders only. */
export async function listShards(place: JobPlace): Promise<readonly ShardSet[]> {
  const runs = await findShardRuns(place);
  const counts = new Set(runs.map(({ count }) => count));
  return [...counts].map((count) => {
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
