import { basename } from "node:path";
import type { Shard } from "../job/job.js";

/** A shard of a job, and its newest run. */
export interface ShardRun extends Shard {
  /** The run folder, which is named after the run. */
  readonly folder: string;
}

/** The runs to join, in the order of their shards, and sentences on the choice. */
export interface Choice<Run> {
  readonly chosen: readonly Run[];
  readonly notes: readonly string[];
}

/** Chooses among the shards of several divisions those of the one that ran last. `place`: where they are, for people. */
export function chooseRuns<Run extends ShardRun>(runs: readonly Run[], place: string): Choice<Run> {
  const newest = runs.toSorted((one, other) => (basename(one.folder) < basename(other.folder) ? 1 : -1))[0]?.count;
  const chosen = runs.filter(({ count }) => count === newest).sort((one, other) => one.index - other.index);
  const counts = [...new Set(runs.map(({ count }) => count))].sort((one, other) => one - other);
  const notes =
    counts.length > 1
      ? [`${place} has shards of ${counts.join(" and of ")}; those of ${newest} ran last, and are joined`]
      : [];
  return { chosen, notes };
}
