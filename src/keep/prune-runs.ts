import { lstat, readlink, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { flush } from "../dump/files/flush.js";
import { isThere } from "../dump/files/is-there.js";
import { pointLatest } from "../dump/publish/latest.js";
import { LostError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Job, Keep } from "../job/job.js";
import type { Log } from "../log.js";
import { type Hold, type JobFolders, makeOwnFolder } from "../run/work/job-folders.js";
import { clearRemoved, removedFolder } from "../run/work/remove-from.js";
import { type Decision, decideRuns } from "./decide-runs.js";
import { type RunFolder, readPastRuns, type Stranger } from "./past-runs.js";

/** The decisions on the runs of a job. */
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
 * Removes what the plan does not keep, and says each before it does. A run leaves the bucket if there is one, and the folder of runs by one rename into our
 * own folder, and is deleted there: a kill in between leaves nothing that is half there, and the next run deletes the rest.
 * Gives the runs that could not be removed. Once `signal` is aborted, no further run is removed.
 */
export async function pruneRuns(
  plan: PrunePlan,
  hold: Hold,
  log: Log,
  signal?: AbortSignal,
): Promise<readonly PruneFailure[]> {
  await leadLatestAway(plan, hold);
  if (plan.setAside) {
    log("info", "removing the work that was set aside: too old to be continued");
    await moveAway(hold, join(hold.private, "set-aside"), "set-aside").catch(() => {});
  }
  const failures: PruneFailure[] = [];
  for (const { runId, reasons } of plan.runs.filter(({ keep }) => !keep)) {
    if (signal?.aborted) {
      failures.push({ runId, error: "interrupted before it was removed" });
      continue;
    }
    log("info", `removing run ${runId}: ${reasons.join(", ")}`);
    try {
      await rm(join(hold.own, runId), { recursive: true, force: true }); // work that nobody can retry without it
      await hold.remote?.dropRun(runId);
      await moveAway(hold, join(hold.runs, runId), runId);
    } catch (error) {
      if (error instanceof LostError || !(await isThere(hold.own))) throw error; // fenced: the successor prunes at its own end
      failures.push({ runId, error: problemText(error) });
    }
  }
  await flush(hold.runs).catch(() => {}); // at worst, a power cut brings a removed run back
  if (!signal?.aborted) await clearRemoved(hold);
  return failures;
}

async function moveAway(hold: Hold, path: string, name: string): Promise<void> {
  await makeOwnFolder(removedFolder(hold));
  await rename(path, join(removedFolder(hold), name));
}

/** Points `latest` to the newest complete run if it leads to a run that is removed, or nowhere. */
async function leadLatestAway({ runs }: PrunePlan, hold: Hold): Promise<void> {
  const latest = join(hold.folder, "latest");
  const target = await readlink(latest).catch(() => undefined);
  if (target === undefined) return;
  const leadsSomewhere = await stat(latest).then(
    () => true,
    () => false,
  );
  const place = resolve(hold.folder, target);
  const goes = runs.some(({ runId, keep }) => !keep && resolve(hold.runs, runId) === place);
  if (leadsSomewhere && !goes) return;
  const newest = runs.find(({ keep, status }) => keep && status === "complete");
  if (newest) await pointLatest(hold, newest.runId);
  else await moveAway(hold, latest, "latest");
}
