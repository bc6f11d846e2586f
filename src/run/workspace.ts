import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { newRunId } from "../dump/run-id.js";
import type { Job } from "../job/job.js";
import { type EarlierOptions, earlierWork, writePlan } from "./earlier-work.js";
import { mendPublished } from "./publish/mend-published.js";
import { withHold } from "./work/hold.js";
import { type Hold, makeOwnFolder } from "./work/job-folders.js";

/** The folders of a run that is at work, below `output/<job>/.work/<token>/<run_id>`. */
export interface Workspace extends Hold {
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
}

/** The files that a run leaves for the next one; `everything` includes a database that could not be published. */
export type Kept = "nothing" | "what was read" | "everything";

/**
 * Holds a job while `work` runs. Continues the work of an earlier run of the same plan if it is younger than `resumeWithin`,
 * and sets other work aside. After a success `keep` decides which files are left for the next run; after a failure these are
 * the parts that were read.
 */
export async function withWorkspace<T>(
  job: Job,
  options: EarlierOptions,
  keep: (result: T) => Kept,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withHold(job, options, async (hold) => {
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
      await tidy(workspace, isBegun ? "what was read" : "nothing").catch(() => {}); // the error of the work is the one to tell
      throw error;
    }
    await tidy(workspace, keep(result)).catch(() => {}); // the run is published; the next one tries again
    return result;
  });
}

function workspaceIn(hold: Hold, runId: string): Omit<Workspace, "startedAt"> {
  const work = join(hold.own, runId);
  const [parts, stage, scratch] = [join(work, "parts"), join(work, "stage"), join(work, "scratch")];
  return { ...hold, runId, work, parts, stage, scratch };
}

async function tidy({ work, stage, scratch }: Workspace, keep: Kept): Promise<void> {
  const removed = { nothing: [work], "what was read": [stage, scratch], everything: [] }[keep];
  for (const path of removed) await rm(path, { recursive: true, force: true });
}
