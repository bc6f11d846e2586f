import { isThere } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { mendPublished } from "../run/database/mend-published.js";
import type { RunOptions } from "../run/setting/run-options.js";
import { withHold } from "../run/work/hold.js";
import { foldersOf, refuseLinks } from "../run/work/job-folders.js";
import type { Workspace } from "../run/work/workspace.js";
import { type PruneFailure, type PrunePlan, planPrune, pruneRuns } from "./prune-runs.js";

export interface PruneOptions extends Pick<RunOptions, "log" | "now"> {
  /** Only say what would be removed. */
  readonly dryRun?: boolean;
}

/** The decisions on the runs of a job, and the removals that failed. */
export interface PruneResult extends PrunePlan {
  readonly failures: readonly PruneFailure[];
}

/**
 * Removes the runs of a job that no rule of its `output.keep` names, under its lock; `dryRun` changes nothing and takes no
 * lock. Throws UsageError when the job has no such rules, BusyError when a run is at work.
 */
export async function pruneJob(job: Job, options: PruneOptions = {}): Promise<PruneResult> {
  const { log = () => {}, now = () => new Date(), dryRun = false } = options;
  const { keep } = job.output;
  if (!keep) {
    const message = "expected, such as {last: 14}; without it every run is kept";
    throw new UsageError("There is nothing to prune by:", [{ path: "output.keep", message }]);
  }
  const folders = foldersOf(job);
  await refuseLinks(folders);
  if (dryRun || !(await isThere(folders.runs)))
    return { ...(await planPrune(job, keep, folders, now())), failures: [] };
  return withHold(job, { now, log }, async (hold) => {
    await mendPublished(hold, job, log);
    const plan = await planPrune(job, keep, hold, now());
    return { ...plan, failures: await pruneRuns(plan, hold, log) };
  });
}

/** Prunes at the end of a run, which is published already, so that nothing here can fail it. Gives the removed runs. */
export async function pruneAfterRun(
  job: Job,
  workspace: Workspace,
  { now, log, signal }: { readonly now: () => Date; readonly log: Log; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { keep } = job.output;
  if (!keep || !(await isThere(workspace.own))) return []; // a successor, who has fenced us, prunes at its own end
  try {
    const plan = await planPrune(job, keep, workspace, now(), workspace.runId);
    const failures = await pruneRuns(plan, workspace, log, signal);
    for (const { runId, error } of failures) log("warn", `run ${runId} could not be removed: ${error}`);
    const failed = new Set(failures.map(({ runId }) => runId));
    return plan.runs.filter(({ keep, runId }) => !keep && !failed.has(runId)).map(({ runId }) => runId);
  } catch (error) {
    if (await isThere(workspace.own)) log("warn", `old runs could not be removed: ${problemText(error)}`);
    return [];
  }
}
