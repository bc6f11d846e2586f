import { join } from "node:path";
import { mendPublished } from "../database/job-database.js";
import { UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { isThere } from "../files/files.js";
import type { Job } from "../job/job.js";
import { type RunOptions, withDefaults } from "../job/open-service.js";
import type { Log } from "../log.js";
import { openCopies } from "../store/bucket/copies.js";
import { fetchManifestsOf, lookForJob } from "../store/bucket/fetch-run.js";
import { foldersOf, refuseLinks, shownPath } from "../store/folder/job-folders.js";
import { type PruneFailure, type PrunePlan, planPrune, pruneRuns } from "../store/keep-runs.js";
import { leaseJob } from "../store/open-job.js";
import type { Workspace } from "../store/workspace.js";

export interface PruneOptions extends Pick<RunOptions, "env" | "log" | "now" | "signal"> {
  /** Only report what would be removed. */
  readonly dryRun?: boolean;
}

/** The decisions on a job's runs, and the failed removals. */
export interface PruneResult extends PrunePlan {
  readonly failures: readonly PruneFailure[];
}

/**
 * Removes the runs that no rule of `output.keep` keeps, under the job's lock. `dryRun` changes nothing and takes no lock. Throws
 * UsageError if the job has no such rules, BusyError if a run is active.
 */
export async function pruneJob(job: Job, options: PruneOptions = {}): Promise<PruneResult> {
  const { dryRun = false } = options;
  const context = withDefaults(options);
  const { now, log } = context;
  const { keep } = job.output;
  if (!keep) {
    const message = "expected, such as {last: 14}; without it every run is kept";
    throw new UsageError("There is nothing to prune by:", [{ path: "output.keep", message }]);
  }
  const folders = foldersOf(job);
  await refuseLinks(folders);
  const planIn = (runs: string) => planPrune(job, keep, { ...folders, runs }, now());
  if (dryRun && job.output.bucket !== undefined) {
    await using copies = openCopies(context.env);
    const copy = await lookForJob(shownPath(job, folders.folder), { ...context, copies, watch: () => () => {} });
    if (!copy) return { runs: [], strangers: [], setAside: false, failures: [] };
    await fetchManifestsOf(copy, copy.head.runs);
    return { ...(await planIn(join(copy.folder, "runs"))), failures: [] };
  }
  if (dryRun || (job.output.bucket === undefined && !(await isThere(folders.runs))))
    return { ...(await planIn(folders.runs)), failures: [] };
  await using lease = await leaseJob(job, context);
  try {
    await mendPublished(lease, job, log);
    const plan = await planIn(lease.runs);
    return { ...plan, failures: await pruneRuns(plan, lease, log) };
  } catch (error) {
    throw await lease.explain(error);
  }
}

/** Prunes at the end of a run. The run is already published, so nothing here can fail it. Returns the removed runs. */
export async function pruneAfterRun(
  job: Job,
  workspace: Workspace,
  { now, log, signal }: { readonly now: () => Date; readonly log: Log; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { keep } = job.output;
  if (!keep || !(await isThere(workspace.own))) return []; // if a successor has fenced us, it prunes when it ends
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
