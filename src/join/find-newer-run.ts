import { readPastRuns } from "../keep/past-runs.js";

/**
 * A sentence on the run of the job that read the service last, where that was after the shards did: then the joined run puts older rows
 * over those. `runs`: the folder of the runs; `end`: when the last shard ended, in milliseconds since 1970. A joined run ended when its shards did.
 */
export async function newerRunSentence(runs: string, job: string, end: number): Promise<string | undefined> {
  const past = await readPastRuns(runs, job);
  const newest = past.runs.toSorted((one, other) => (other.finishedAt ?? 0) - (one.finishedAt ?? 0))[0];
  if (!newest || (newest.finishedAt ?? 0) <= end) return undefined;
  return `run ${newest.runId} read the service after these shards did: latest and the database go back to what the shards read. Make the shards again, and join those`;
}
