import { readdir, rm } from "node:fs/promises";
import { newRunId } from "../dump/manifest/run-id.js";
import type { Job } from "../job/job.js";
import { withJob } from "./bucket/with-job.js";
import { mendPublished } from "./database/mend-published.js";
import type { RunOptions } from "./setting/run-options.js";
import { type EarlierOptions, earlierWork, writePlan } from "./work/earlier-work.js";
import { makeOwnFolder } from "./work/job-folders.js";
import { type Workspace, workspaceIn } from "./work/workspace.js";

/** The files that a run leaves for the next one; `everything` includes a database that could not be published. */
export type Kept = "nothing" | "what was read" | "everything";

/**
 * Holds a job while `work` runs. Continues the work of an earlier run of the same plan if it is younger than `resumeWithin`,
 * and sets other work aside. After a success `keep` decides which files are left for the next run; after a failure these are
 * the parts that were read, and `tally.isKept` says whether there are any.
 */
export async function withWorkspace<T>(
  job: Job,
  options: EarlierOptions & Pick<Required<RunOptions>, "tally" | "env" | "signal">,
  keep: (result: T) => Kept,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withJob(job, options, async (hold) => {
    if (job.output.formats.includes("duckdb")) await hold.remote?.bringDatabase();
    await mendPublished(hold, job, options.log);
    const earlier = await earlierWork(hold, job, options);
    const startedAt = earlier?.startedAt ?? options.now();
    const runId = earlier?.runId ?? (await newRunId(hold.runs, startedAt));
    const workspace = { ...workspaceIn(hold, runId), startedAt };
    await makeOwnFolder(workspace.work);
    for (const path of [workspace.stage, workspace.scratch]) await rm(path, { recursive: true, force: true });
    for (const path of [workspace.parts, workspace.stage, workspace.scratch]) await makeOwnFolder(path);
    if (!earlier) await writePlan(workspace.work, job, startedAt);
    let result: T;
    try {
      result = await work(workspace);
    } catch (error) {
      const isBegun = (await readdir(workspace.parts).catch(() => [])).length > 0;
      options.tally.isKept = isBegun;
      await tidy(workspace, isBegun ? "what was read" : "nothing").catch(() => {}); // the error of the work is the one to tell
      throw error;
    }
    await tidy(workspace, keep(result)).catch(() => {}); // the run is published; the next one tries again
    return result;
  });
}

async function tidy({ work, stage, scratch }: Workspace, keep: Kept): Promise<void> {
  const removed = { nothing: [work], "what was read": [stage, scratch], everything: [] }[keep];
  for (const path of removed) await rm(path, { recursive: true, force: true });
}
