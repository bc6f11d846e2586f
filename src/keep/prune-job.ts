import { isThere } from "../dump/files/is-there.js";
import { UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { withListedRuns } from "../run/bucket/listed-runs.js";
import { withJob } from "../run/bucket/with-job.js";
import { mendPublished } from "../run/database/mend-published.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { foldersOf, refuseLinks } from "../run/work/job-folders.js";
import type { Workspace } from "../run/work/workspace.js";
import { type PruneFailure, type PrunePlan, planPrune, pruneRuns } from "./prune-runs.js";

export interface PruneOptions extends Pick<RunOptions, "env" | "log" | "now" | "signal"> {
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
  const { dryRun = false } = options;
  const setting = withDefaults(options);
  const { now, log } = setting;
  const { keep } = job.output;
  if (!keep) {
    const message = "expected, such as {last: 14}; without it every run is kept";
    throw new UsageError("There is nothing to prune by:", [{ path: "output.keep", message }]);
  }
  const folders = foldersOf(job);
  await refuseLinks(folders);
  const planIn = (runs: string) => planPrune(job, keep, { ...folders, runs }, now());
  if (dryRun && job.output.bucket !== undefined)
    return { ...(await withListedRuns(job, setting, planIn)), failures: [] };
  if (dryRun || (job.output.bucket === undefined && !(await isThere(folders.runs))))
    return { ...(await planIn(folders.runs)), failures: [] };
  return withJob(job, setting, async (hold) => {
    await mendPublished(hold, job, log);
    const plan = await planIn(hold.runs);
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
