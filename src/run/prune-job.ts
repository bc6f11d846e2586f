import { lstat, readlink, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { mendPublished } from "../database/job-database.js";
import { LostError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { isThere } from "../files/files.js";
import { flush } from "../files/flush.js";
import type { Job, Keep } from "../job/job.js";
import { type RunOptions, withDefaults } from "../job/open-service.js";
import type { Log } from "../log.js";
import { openCopies } from "../store/bucket/copies.js";
import { fetchManifestsOf, lookForJob } from "../store/bucket/fetch-run.js";
import { clearRemoved, moveAway } from "../store/folder/folder-store.js";
import { foldersOf, type JobFolders, refuseLinks, shownPath } from "../store/folder/job-folders.js";
import { type Decision, decideRuns, type RunFolder, readPastRuns, type Stranger } from "../store/keep-runs.js";
import { type LeasedJob, leaseJob, type Workspace } from "../store/lease.js";

export interface PruneOptions extends Pick<RunOptions, "env" | "log" | "now" | "signal"> {
  /** Whether to report what would be removed, and remove nothing. */
  readonly dryRun?: boolean;
}

/** The decisions on a job's runs. */
interface PrunePlan {
  /** The decision on every run, newest first. */
  readonly runs: readonly (Decision & Pick<RunFolder, "bytes">)[];
  readonly strangers: readonly Stranger[];
  /** Whether work that was set aside is too old to be resumed. */
  readonly setAside: boolean;
}

/** A run that could not be removed. */
interface PruneFailure {
  readonly runId: string;
  readonly error: string;
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
  if (!keep || !(await isThere(workspace.own))) return []; // if another run has taken over, it prunes when it ends
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

/**
 * Decides which runs to keep, without changing anything. `current`, the run that was just published, stays even if there are newer
 * run folders.
 */
export async function planPrune(
  job: Job,
  keep: Keep,
  folders: Pick<JobFolders, "runs" | "private">,
  now: Date,
  current?: string,
): Promise<PrunePlan> {
  const { runs, strangers } = await readPastRuns(folders.runs, job.name);
  const decisions = decideRuns(runs, keep).map((run) =>
    run.runId === current && !run.keep ? { ...run, keep: true, reasons: ["published just now"] } : run,
  );
  const facts = await lstat(join(folders.private, "set-aside")).catch(() => undefined);
  const age = now.getTime() - (facts?.mtimeMs ?? now.getTime());
  return { runs: decisions, strangers, setAside: age > job.resumeWithin * 3_600_000 };
}

/**
 * Removes the runs that the plan does not keep, and logs each removal first. A kill leaves no run half removed, and the next run
 * deletes the rest. Returns the runs that could not be removed. Removes no more runs after `signal` aborts.
 */
async function pruneRuns(
  plan: PrunePlan,
  leased: LeasedJob,
  log: Log,
  signal?: AbortSignal,
): Promise<readonly PruneFailure[]> {
  await leadLatestAway(plan, leased);
  if (plan.setAside) {
    log("info", "removing the work that was set aside: too old to be continued");
    await moveAway(leased, join(leased.private, "set-aside")).catch(() => {});
  }
  const failures: PruneFailure[] = [];
  for (const { runId, reasons } of plan.runs.filter(({ keep }) => !keep)) {
    if (signal?.aborted) {
      failures.push({ runId, error: "interrupted before it was removed" });
      continue;
    }
    log("info", `removing run ${runId}: ${reasons.join(", ")}`);
    try {
      await rm(join(leased.own, runId), { recursive: true, force: true }); // work that cannot be resumed without this run
      await leased.store.removeRun(runId);
    } catch (error) {
      if (error instanceof LostError || !(await isThere(leased.own))) throw error; // another run has taken over, and prunes when it ends
      failures.push({ runId, error: problemText(error) });
    }
  }
  await flush(leased.runs).catch(() => {}); // without it, a power cut may bring a removed run back
  if (!signal?.aborted) await clearRemoved(leased);
  return failures;
}

/** Points `latest` to the newest complete run if it points to a removed run, or nowhere. */
async function leadLatestAway({ runs }: PrunePlan, leased: LeasedJob): Promise<void> {
  const latest = join(leased.folder, "latest");
  const target = await readlink(latest).catch(() => undefined);
  if (target === undefined) return;
  const leadsSomewhere = await stat(latest).then(
    () => true,
    () => false,
  );
  const place = resolve(leased.folder, target);
  const goes = runs.some(({ runId, keep }) => !keep && resolve(leased.runs, runId) === place);
  if (leadsSomewhere && !goes) return;
  const newest = runs.find(({ keep, status }) => keep && status === "complete");
  if (newest) await leased.store.pointLatest(newest.runId);
  else await moveAway(leased, latest);
}
