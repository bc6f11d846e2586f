import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { mendPublished } from "../database/job-database.js";
import { isRunId, newRunId } from "../dump/run-id.js";
import { makeOwnFolder } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import type { Log } from "../log.js";
import { removeOtherExchanges } from "../parallel/open-exchange.js";
import { type EarlierOptions, earlierWork, hasPlan, isDistributed, writePlan } from "../segments/resume.js";
import { removeFrom } from "../store/folder/folder-store.js";
import { type JobOptions, type Lease, type LeasedJob, leaseJob, openedWith, type Workspace } from "../store/lease.js";
import { writtenFormats } from "./finish-formats.js";

/** The files that a run keeps for the next one. `everything` includes a database that could not be published. */
export type Kept = "nothing" | "what was read" | "everything";

/** The workspace of a run, with the lease of its job. Leaving the scope releases both. */
interface LeasedWorkspace extends Workspace, Lease {
  /** Sets which files to keep for the next run after a success. If not called: what was read. */
  readonly keep: (kept: Kept) => void;
}

/**
 * Takes the lease of a job. Resumes the work of an earlier run of the same plan if it is younger than `resumeWithin`, and sets
 * other work aside. After a failure, keeps the segments that were read or that workers may still submit, and sets
 * `progress.isKept` if there are any.
 */
export async function openWorkspace(
  job: Job,
  options: EarlierOptions & Pick<Required<RunOptions>, "progress" | "env" | "signal"> & Pick<RunOptions, "workers">,
): Promise<LeasedWorkspace> {
  const lease = await leaseJob(job, options);
  return openedWith(lease, async () => {
    await completeEarlierRun(lease, job, options.log);
    const earlier = await earlierWork(lease, job, options);
    const startedAt = earlier?.startedAt ?? options.now();
    const runId = earlier?.runId ?? (await newRunId(lease.runs, startedAt));
    const workspace = { ...workspaceIn(lease, runId), startedAt };
    await makeFolders(workspace);
    await removeOtherExchanges(lease, options.workers === undefined ? undefined : runId);
    if (!earlier) await writePlan(workspace.work, job, { startedAt, list: options.list });
    return leasedWorkspace(lease, workspace, async () => {
      const isRead = (await readdir(workspace.segments).catch(() => [])).length > 0;
      const isBegun = isRead || (await isDistributed(workspace.work).catch(() => false));
      options.progress.isKept = isBegun;
      return isBegun ? "what was read" : "nothing";
    });
  });
}

/**
 * Like openWorkspace, for a run that does not ask a service. It resumes no work, keeps none, and does not change the work of other
 * runs. It removes leftovers of killed processes.
 */
export async function openFreshWorkspace(job: Job, options: JobOptions): Promise<LeasedWorkspace> {
  const lease = await leaseJob(job, options);
  return openedWith(lease, async () => {
    await completeEarlierRun(lease, job, options.log);
    for (const name of (await readdir(lease.own)).filter(isRunId))
      if (!(await hasPlan(join(lease.own, name)))) await rm(join(lease.own, name), { recursive: true, force: true });
    const startedAt = options.now();
    const folders = workspaceIn(lease, await newRunId(lease.runs, startedAt));
    // The segments are in the scratch folder, so that no later run resumes from them.
    const workspace = { ...folders, segments: join(folders.scratch, "segments"), startedAt };
    await makeFolders(workspace);
    return leasedWorkspace(lease, workspace, async () => "nothing");
  });
}

/** The paths of a run in the folder of its owner. Creates nothing. */
export function workspaceIn(leased: LeasedJob, runId: string): Omit<Workspace, "startedAt"> {
  const work = join(leased.own, runId);
  const [segments, stage, scratch] = [join(work, "segments"), join(work, "stage"), join(work, "scratch")];
  return { ...leased, runId, work, segments, stage, scratch };
}

/** Removes unneeded files when the scope ends. If that fails, the next run tries again. */
function leasedWorkspace(lease: Lease, workspace: Workspace, keptAfterFailure: () => Promise<Kept>): LeasedWorkspace {
  let kept: Kept | undefined;
  return {
    ...workspace,
    explain: lease.explain,
    keep: (value) => {
      kept = value;
    },
    [Symbol.asyncDispose]: async () => {
      await tidy(workspace, kept ?? (await keptAfterFailure())).catch(() => {});
      await lease[Symbol.asyncDispose]();
    },
  };
}

/**
 * Completes what an earlier run left to publish: the database and `latest`. If the job has a bucket, fetches the bucket's
 * database first.
 */
async function completeEarlierRun(leased: LeasedJob, job: Job, log: Log): Promise<void> {
  if (writtenFormats(job).includes("duckdb")) await leased.store.fetchDatabase();
  await mendPublished(leased, job, log);
}

async function makeFolders({ work, stage, scratch, segments }: Workspace): Promise<void> {
  await makeOwnFolder(work);
  for (const path of [stage, scratch]) await rm(path, { recursive: true, force: true });
  for (const path of [stage, scratch, segments]) await makeOwnFolder(path);
}

async function tidy(workspace: Workspace, keep: Kept): Promise<void> {
  const { work, stage, scratch } = workspace;
  if (keep === "nothing") return removeFrom(workspace, work); // even if interrupted, leaves no work to resume
  for (const path of keep === "everything" ? [] : [stage, scratch]) await rm(path, { recursive: true, force: true });
}
