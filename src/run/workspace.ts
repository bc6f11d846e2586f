import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../job/job.js";
import { lockJob } from "./lock.js";

/** Where the files of a job lie. */
export interface Workspace {
  readonly runId: string;
  /** `output/<job>` */
  readonly folder: string;
  /** `output/<job>/<job>.duckdb` */
  readonly database: string;
  /** `output/<job>/runs` */
  readonly runs: string;
  /** `output/<job>/.work`: nothing in it is for readers. */
  readonly private: string;
  /** Parts, one file per document, kind and text format. */
  readonly parts: string;
  /** What becomes the run folder. */
  readonly stage: string;
  /** What the run needs for itself while it writes: JSONL that is not published, DuckDB's spill, the new database. */
  readonly scratch: string;
  /** Readings of `kbdump status` that wait for the next run. */
  readonly waiting: string;
}

/**
 * Holds the lock of a job while `work` goes on in the folders of a new run, which only their owner can read. Afterwards,
 * whatever happened, and before, where an earlier run was killed, what is left of the work is removed.
 */
export async function withWorkspace<T>(job: Job, now: Date, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = workspaceOf(job, runIdFrom(now));
  const { runs, parts, stage, scratch, waiting } = workspace;
  await makeFolder(workspace.private);
  const unlock = await lockJob(workspace.private, now);
  try {
    await removeWork(workspace);
    for (const path of [runs, parts, stage, scratch, waiting]) await makeFolder(path);
    return await work(workspace);
  } finally {
    await removeWork(workspace);
    await unlock();
  }
}

/** Names the folders of a job's run. */
export function workspaceOf(job: Job, runId: string): Workspace {
  const folder = join(job.output.dir, job.name);
  const hidden = join(folder, ".work");
  const work = join(hidden, runId);
  return {
    runId,
    folder,
    database: join(folder, `${job.name}.duckdb`),
    runs: join(folder, "runs"),
    private: hidden,
    parts: join(work, "parts"),
    stage: join(work, "stage"),
    scratch: join(work, "scratch"),
    waiting: join(hidden, "indexing_status"),
  };
}

/** Makes a folder that only its owner can read, and those above it. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

async function removeWork(workspace: Workspace): Promise<void> {
  const names = (await readdir(workspace.private)).filter((name) => /^\d{8}T\d{9}Z$/.test(name));
  for (const name of names) await rm(join(workspace.private, name), { recursive: true, force: true });
}

/** `20261120T020000123Z`: the UTC time in a form that sorts and names a folder. */
export function runIdFrom(time: Date): string {
  return time.toISOString().replace(/[-:.]/g, "");
}
