import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { type JobFolders, makeFolder, withJobFolders } from "./job-folders.js";
import { readJsonFile, writeJsonFile } from "./json-file.js";
import { pointLatest } from "./latest.js";
import { planHash } from "./plan.js";

import type { Log } from "./run-options.js";

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
}

export interface WorkspaceOptions {
  readonly now: () => Date;
  readonly log: Log;
  /** Begin anew, whatever an earlier run left. */
  readonly fresh: boolean;
}

interface EarlierWork {
  readonly runId: string;
  readonly startedAt: Date;
}

const runFolder = /^\d{8}T\d{9}Z$/;

/**
 * Holds the lock of a job while `work` goes on. What an earlier run of the same plan left is continued, if it is younger
 * than `resumeWithin`; other work is set aside. Work that was done is removed, work that failed is left for the next run.
 */
export async function withWorkspace<T>(
  job: Job,
  options: WorkspaceOptions,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return withJobFolders(job, options.now(), async (folders) => {
    const plan = planHash(job);
    const earlier = await earlierWork(folders, plan, job, options);
    const startedAt = earlier?.startedAt ?? options.now();
    const workspace = workspaceIn(folders, earlier?.runId ?? runIdFrom(startedAt), startedAt);
    for (const path of [workspace.stage, workspace.scratch]) await rm(path, { recursive: true, force: true });
    for (const path of [workspace.parts, workspace.stage, workspace.scratch]) await makeFolder(path);
    if (!earlier) await writeJsonFile(join(workspace.work, "plan.json"), { plan, started_at: startedAt.toISOString() });
    try {
      const result = await work(workspace);
      await rm(workspace.work, { recursive: true, force: true });
      return result;
    } catch (error) {
      const unread = (await readdir(workspace.parts)).length === 0;
      for (const path of unread ? [workspace.work] : [workspace.stage, workspace.scratch]) {
        await rm(path, { recursive: true, force: true });
      }
      throw error;
    }
  });
}

function workspaceIn(folders: JobFolders, runId: string, startedAt: Date): Workspace {
  const work = join(folders.private, runId);
  const [parts, stage, scratch] = [join(work, "parts"), join(work, "stage"), join(work, "scratch")];
  return { ...folders, runId, startedAt, work, parts, stage, scratch };
}

/** `20261120T020000123Z`: the UTC time in a form that sorts and names a folder. */
export function runIdFrom(time: Date): string {
  return time.toISOString().replace(/[-:.]/g, "");
}

/** The work that can be continued; any other is set aside, and said to be. */
async function earlierWork(
  folders: JobFolders,
  plan: string,
  job: Job,
  { now, log, fresh }: WorkspaceOptions,
): Promise<EarlierWork | undefined> {
  let found: EarlierWork | undefined;
  for (const runId of (await readdir(folders.private)).filter((name) => runFolder.test(name)).sort()) {
    if (await settlePublished(folders, runId)) continue;
    const facts = factsFrom(await readJsonFile(join(folders.private, runId, "plan.json")));
    const age = facts ? now().getTime() - facts.startedAt.getTime() : Number.POSITIVE_INFINITY;
    const why = fresh
      ? "a fresh start was asked for"
      : facts?.plan !== plan
        ? "the job has changed since"
        : age > job.resumeWithin * 3_600_000
          ? `it is older than ${job.resumeWithin} h`
          : undefined;
    if (why === undefined && facts) found = { runId, startedAt: facts.startedAt };
    else await setAside(folders, runId, `the work of run ${runId} is not continued: ${why}`, log);
  }
  if (found) log("info", `continuing the run that began at ${found.startedAt.toISOString()}`);
  return found;
}

/** Ends the work of a run that was published and then killed before it could tidy up; false for any other. */
async function settlePublished(folders: JobFolders, runId: string): Promise<boolean> {
  const manifest = await readJsonFile(join(folders.runs, runId, "manifest.json"));
  if (typeof manifest !== "object" || manifest === null || !("status" in manifest)) return false;
  if (manifest.status === "complete") await pointLatest(folders, runId);
  await rm(join(folders.private, runId), { recursive: true, force: true });
  return true;
}

/** The last work that was set aside is kept, in case somebody wants it. */
async function setAside(folders: JobFolders, runId: string, message: string, log: Log): Promise<void> {
  const aside = join(folders.private, "set-aside");
  await rm(aside, { recursive: true, force: true });
  await rename(join(folders.private, runId), aside);
  log("info", `${message}; it lies in ${aside}`);
}

function factsFrom(value: unknown): { plan: string; startedAt: Date } | undefined {
  if (typeof value !== "object" || value === null || !("plan" in value) || !("started_at" in value)) return undefined;
  const startedAt = new Date(String(value.started_at));
  return Number.isNaN(startedAt.getTime()) ? undefined : { plan: String(value.plan), startedAt };
}
