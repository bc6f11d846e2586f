import { readlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { JobPlace } from "../job/job.js";
import { decideRuns, type KeepRule, type RunFolder, readPastRuns, type Stranger } from "../keep/decide-runs.js";
import { mayTakeOver } from "../store/bucket/head.js";
import type { JobCopy } from "../store/copy/job-copy.js";
import { foldersOf } from "../store/folder/job-folders.js";
import { holderOf, readLock } from "../store/folder/lock.js";
import { listShards, type ShardSet } from "./list-shards.js";

/** A run of a job, as the list shows it. */
export interface ListedRun extends RunFolder {
  readonly folder: string;
  /** Whether `latest` leads to it. */
  readonly isLatest: boolean;
  /** The rules of `output.keep` that hold it; empty: the next run removes it. null: no rules are known. */
  readonly keptBy: readonly KeepRule[] | null;
}

/** The process of a run that is at work; null stands for what its lock does not say. */
export interface RunAtWork {
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
}

/** The runs of a job. */
export interface RunList {
  readonly job: string;
  readonly folder: string;
  /** Newest first. */
  readonly runs: readonly ListedRun[];
  /** Whatever lies among the runs and is none, with the reason. */
  readonly strangers: readonly Stranger[];
  readonly atWork: RunAtWork | undefined;
  readonly shards: readonly ShardSet[];
}

/**
 * Lists the runs of a job by their manifests, and its shards by their folders; reads no other file, and changes nothing. `copy`: of a job
 * in a bucket.
 */
export async function listRuns(place: JobPlace, now: Date, copy?: JobCopy): Promise<RunList> {
  const folders = foldersOf(place);
  const { runs, strangers } = await readPastRuns(folders.runs, place.name);
  const shown = copy ? runs.filter(({ runId }) => copy.head.runs.some(({ run_id }) => run_id === runId)) : runs;
  const url = copy?.url;
  const latest = basename(await readlink(join(folders.folder, "latest")).catch(() => ""));
  const { keep } = place.output;
  const rules = new Map(keep && decideRuns(shown, keep).map(({ runId, rules }) => [runId, rules]));
  const listed = shown.map((run) => ({
    ...run,
    folder: url === undefined ? join(folders.runs, run.runId) : `${url}/runs/${run.runId}`,
    isLatest: run.runId === latest,
    keptBy: rules.get(run.runId) ?? null,
  }));
  const newestFirst = listed.sort((a, b) => (a.runId < b.runId ? 1 : -1));
  const atWork = copy ? runInBucket(copy) : await runAtWork(join(folders.private, "lock"), now);
  const shards = await listShards(place, copy);
  return { job: place.name, folder: url ?? folders.folder, runs: newestFirst, strangers, atWork, shards };
}

/** The holder that the head of a bucket names, as long as nobody may take over from it. */
function runInBucket({ head, age }: JobCopy): RunAtWork | undefined {
  if (head.holder === null || mayTakeOver(head, age)) return undefined;
  const { pid, host, since } = head.holder;
  return { pid, host, since };
}

async function runAtWork(lock: string, now: Date): Promise<RunAtWork | undefined> {
  const found = await readLock(lock);
  const holder = found && (await holderOf(found, now.getTime()));
  if (holder === null) return { pid: null, host: null, since: null };
  return holder && { pid: holder.pid, host: holder.host, since: holder.since };
}
