import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { mendPublished } from "../database/job-database.js";
import { isRunId, newRunId } from "../dump/run-id.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import type { Log } from "../log.js";
import { removeOtherExchanges } from "../parallel/exchange/open-exchange.js";
import { type EarlierOptions, earlierWork, hasPlan, isHandedOut, writePlan } from "../store/earlier-work.js";
import { type Hold, makeOwnFolder } from "../store/folder/job-folders.js";
import { type JobOptions, withJob } from "../store/open-job.js";
import { type Workspace, workspaceIn } from "../store/workspace.js";
import { writtenFormats } from "./finish-formats.js";

/** The files that a run leaves for the next one; `everything` includes a database that could not be published. */
export type Kept = "nothing" | "what was read" | "everything";

/**
 * Holds a job while `work` runs. Continues the work of an earlier run of the same plan if it is younger than `resumeWithin`,
 * and sets other work aside. After a success `keep` decides which files are left for the next run; after a failure these are
 * the parts that were read, and those that workers may still hand over; `tally.isKept` says whether there are any.
 */
export async function withWorkspace<T>(
  job: Job,
  options: EarlierOptions & Pick<Required<RunOptions>, "tally" | "env" | "signal"> & Pick<RunOptions, "workers">,
  keep: (result: T) => Kept,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withJob(job, options, async (hold) => {
    await bringUpToDate(hold, job, options.log);
    const earlier = await earlierWork(hold, job, options);
    const startedAt = earlier?.startedAt ?? options.now();
    const runId = earlier?.runId ?? (await newRunId(hold.runs, startedAt));
    const workspace = { ...workspaceIn(hold, runId), startedAt };
    await makeFolders(workspace);
    await removeOtherExchanges(hold, options.workers === undefined ? undefined : runId);
    if (!earlier) await writePlan(workspace.work, job, { startedAt, list: options.list });
    return useWorkspace(workspace, work, keep, async () => {
      const isRead = (await readdir(workspace.parts).catch(() => [])).length > 0;
      const isBegun = isRead || (await isHandedOut(workspace.work).catch(() => false));
      options.tally.isKept = isBegun;
      return isBegun ? "what was read" : "nothing";
    });
  });
}

/**
 * The same for a run that asks no service: it continues no work and leaves none to be continued, and lets that of others lie. What
 * a process left that was killed goes.
 */
export async function withFreshWorkspace<T>(
  job: Job,
  options: JobOptions,
  keep: (result: T) => Kept,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withJob(job, options, async (hold) => {
    await bringUpToDate(hold, job, options.log);
    for (const name of (await readdir(hold.own)).filter(isRunId))
      if (!(await hasPlan(join(hold.own, name)))) await rm(join(hold.own, name), { recursive: true, force: true });
    const startedAt = options.now();
    const folders = workspaceIn(hold, await newRunId(hold.runs, startedAt));
    // In the scratch folder, so that no later run takes the parts for something to continue.
    const workspace = { ...folders, parts: join(folders.scratch, "parts"), startedAt };
    await makeFolders(workspace);
    return useWorkspace(workspace, work, keep, async () => "nothing");
  });
}

/** Does what an earlier run left undone, with the database of the bucket if the job has one. */
async function bringUpToDate(hold: Hold, job: Job, log: Log): Promise<void> {
  if (writtenFormats(job).includes("duckdb")) await hold.remote?.bringDatabase();
  await mendPublished(hold, job, log);
}

async function makeFolders({ work, stage, scratch, parts }: Workspace): Promise<void> {
  await makeOwnFolder(work);
  for (const path of [stage, scratch]) await rm(path, { recursive: true, force: true });
  for (const path of [stage, scratch, parts]) await makeOwnFolder(path);
}

/** Does the work, and then removes what need not be kept. */
async function useWorkspace<T>(
  workspace: Workspace,
  work: (workspace: Workspace) => Promise<T>,
  keep: (result: T) => Kept,
  keepAfterFailure: () => Promise<Kept>,
): Promise<T> {
  let result: T;
  try {
    result = await work(workspace);
  } catch (error) {
    const kept = await keepAfterFailure();
    await tidy(workspace, kept).catch(() => {}); // the error of the work is the one to tell
    throw error;
  }
  await tidy(workspace, keep(result)).catch(() => {}); // the run is published; the next one tries again
  return result;
}

async function tidy({ work, stage, scratch }: Workspace, keep: Kept): Promise<void> {
  const removed = { nothing: [work], "what was read": [stage, scratch], everything: [] }[keep];
  for (const path of removed) await rm(path, { recursive: true, force: true });
}
