import type { Manifest } from "../dump/manifest/manifest.js";
import type { ManifestShard } from "../dump/manifest/shard.js";
import { shardsText } from "./merge-lists.js";

/** The times of the run of a shard. */
export interface ShardTimes {
  readonly shard: Pick<ManifestShard, "index">;
  readonly dump: { readonly manifest: Pick<Manifest, "started_at" | "finished_at"> };
}

/** Milliseconds in which no shard was at work, from which on the shards count as made at different times. */
const longestPause = 30 * 60_000;

/**
 * A sentence for each pause between the runs of shards: those before it may be left over from an earlier night, because a shard that
 * failed publishes nothing, and its newest run is the one before.
 */
export function pauseSentences(shards: readonly ShardTimes[]): readonly string[] {
  const runs = shards
    .map(({ shard, dump: { manifest } }) => ({
      index: shard.index,
      start: Date.parse(manifest.started_at),
      end: Date.parse(manifest.finished_at),
    }))
    .sort((one, other) => one.start - other.start);
  const sentences: string[] = [];
  let end = Number.POSITIVE_INFINITY;
  for (const [at, run] of runs.entries()) {
    if (run.start - end > longestPause) {
      const earlier = shardsText(runs.slice(0, at).map(({ index }) => index));
      sentences.push(
        `${earlier} ended by ${timeText(end)}, and the others began at ${timeText(run.start)} or later: make the earlier ones again if they are left over from another night`,
      );
    }
    end = at === 0 ? run.end : Math.max(end, run.end);
  }
  return sentences;
}

function timeText(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
