import { lstat, readlink, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Job, Keep } from "../job/job.js";
import { type Decision, decideRuns } from "../retention/decide-runs.js";
import { type RunFolder, readPastRuns, type Stranger } from "../retention/past-runs.js";
import { flush } from "../sinks/flush.js";
import { clearRemoved, removedFolder } from "./clear-removed.js";
import { type JobFolders, makeFolder } from "./job-folders.js";
import { pointLatest } from "./latest.js";
import type { Log } from "./run-options.js";

/** What is to become of the runs of a job. */
export interface PrunePlan {
  /** Newest first. */
  readonly runs: readonly (Decision & Pick<RunFolder, "bytes">)[];
  readonly strangers: readonly Stranger[];
  /** Work that was set aside is older than a run may be to be continued. */
  readonly setAside: boolean;
}

/** A run that could not be removed. */
export interface PruneFailure {
  readonly runId: string;
  readonly error: string;
}

/**
 * Decides what `keep` leaves of the runs of a job; changes nothing. `current`, the run that was published just now, stays
 * even where somebody put newer ones beside it.
 */
export async function planPrune(
  job: Job,
  keep: Keep,
  folders: Pick<JobFolders, "runs" | "private">,
  now: Date,
  current?: string,
): Promise<PrunePlan> {
  const { runs, strangers } = await readPastRuns(folders.runs, job.name);
  const bytes = new Map(runs.map((run) => [run.runId, run.bytes]));
  const decisions = decideRuns(runs, keep)
    .map((decision) => ({ ...decision, bytes: bytes.get(decision.runId) ?? 0 }))
    .map((run) => (run.runId === current && !run.keep ? { ...run, keep: true, reasons: ["published just now"] } : run));
  const facts = await lstat(join(folders.private, "set-aside")).catch(() => undefined);
  const age = now.getTime() - (facts?.mtimeMs ?? now.getTime());
  return { runs: decisions, strangers, setAside: age > job.resumeWithin * 3_600_000 };
}

/**
 * Removes what the plan does not keep, and says each before it does. A run leaves the folder of runs by one rename, and is
 * deleted in the work folder: a kill in between leaves nothing that is half there, and the next run deletes the rest. Gives
 * the runs that could not be removed. To be called with the lock of the job.
 */
export async function pruneRuns(plan: PrunePlan, folders: JobFolders, log: Log): Promise<readonly PruneFailure[]> {
  await clearRemoved(folders);
  await leadLatestAway(plan, folders);
  if (plan.setAside) {
    log("info", "removing the work that was set aside: too old to be continued");
    await moveAway(folders, join(folders.private, "set-aside"), "set-aside").catch(() => {});
  }
  const failures: PruneFailure[] = [];
  for (const { runId, reasons } of plan.runs.filter(({ keep }) => !keep)) {
    log("info", `removing run ${runId}: ${reasons.join(", ")}`);
    try {
      await rm(join(folders.private, runId), { recursive: true, force: true }); // work that nobody can retry without it
      await moveAway(folders, join(folders.runs, runId), runId);
    } catch (error) {
      failures.push({ runId, error: error instanceof Error ? error.message : String(error) });
    }
  }
  await flush(folders.runs);
  await clearRemoved(folders);
  return failures;
}

async function moveAway(folders: JobFolders, path: string, name: string): Promise<void> {
  await makeFolder(removedFolder(folders));
  await rename(path, join(removedFolder(folders), name));
}

/** Where `latest` leads to a run that goes, or nowhere, it leads to the newest complete run from now on. */
async function leadLatestAway({ runs }: PrunePlan, folders: JobFolders): Promise<void> {
  const latest = join(folders.folder, "latest");
  const target = await readlink(latest).catch(() => undefined);
  if (target === undefined) return;
  const isThere = await stat(latest).then(
    () => true,
    () => false,
  );
  const place = resolve(folders.folder, target);
  const goes = runs.some(({ runId, keep }) => !keep && resolve(folders.runs, runId) === place);
  if (isThere && !goes) return;
  const newest = runs.find(({ keep, status }) => keep && status === "complete");
  if (newest) await pointLatest(folders, newest.runId);
  else await rm(latest, { force: true });
}
