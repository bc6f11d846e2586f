import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { clearRemoved } from "./clear-removed.js";
import { type EarlierOptions, earlierWork, writePlan } from "./earlier-work.js";
import { type JobFolders, makeFolder, withJobFolders } from "./job-folders.js";
import { newRunId } from "./run-id.js";

/** The folders of a run that is at work, below `output/<job>/.work/<run_id>`. */
export interface Workspace extends JobFolders {
  readonly runId: string;
  /** Of the run that began this work: an earlier one, if it is continued. */
  readonly startedAt: Date;
  readonly work: string;
  /** Parts, one file per document, kind and text format. */
  readonly parts: string;
  /** What becomes the run folder. */
  readonly stage: string;
  /** What is needed while the files are made: JSONL that is not published, DuckDB's spill, the new database. */
  readonly scratch: string;
  /** Aborted when the lock of the job is no longer ours. */
  readonly lost: AbortSignal;
}

/**
 * Holds the lock of a job while `work` goes on. What an earlier run of the same plan left is continued, if it is younger
 * than `resumeWithin`; other work is set aside. Work that was done is removed, unless `keep` says that the result may be
 * improved on; work that failed is left for the next run.
 */
export async function withWorkspace<T>(
  job: Job,
  options: EarlierOptions,
  keep: (result: T) => boolean,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withJobFolders(job, options.now(), async (folders, lost) => {
    await clearRemoved(folders);
    const earlier = await earlierWork(folders, job, options);
    const startedAt = earlier?.startedAt ?? options.now();
    const runId = earlier?.runId ?? (await newRunId(folders.runs, startedAt));
    const workspace = { ...workspaceIn(folders, runId), startedAt, lost };
    await makeFolder(workspace.work);
    for (const path of [workspace.stage, workspace.scratch]) await rm(path, { recursive: true, force: true });
    for (const path of [workspace.parts, workspace.stage, workspace.scratch]) await makeFolder(path);
    if (!earlier) await writePlan(workspace.work, job, startedAt);
    try {
      const result = await work(workspace);
      await tidy(workspace, keep(result));
      return result;
    } catch (error) {
      // Without the lock, what lies there is another's.
      if (!lost.aborted) await tidy(workspace, (await readdir(workspace.parts)).length > 0);
      throw error;
    }
  });
}

function workspaceIn(folders: JobFolders, runId: string): Omit<Workspace, "startedAt" | "lost"> {
  const work = join(folders.private, runId);
  const [parts, stage, scratch] = [join(work, "parts"), join(work, "stage"), join(work, "scratch")];
  return { ...folders, runId, work, parts, stage, scratch };
}

/** Removes what only this process could use, or all of it. */
async function tidy(workspace: Pick<Workspace, "work" | "stage" | "scratch">, keep: boolean): Promise<void> {
  for (const path of keep ? [workspace.stage, workspace.scratch] : [workspace.work]) {
    await rm(path, { recursive: true, force: true });
  }
}
