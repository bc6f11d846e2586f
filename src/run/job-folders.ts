import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StopError } from "../errors.js";
import type { Job } from "../job/job.js";
import { lockJob } from "./lock.js";

/** Where the files of a job lie. */
export interface JobFolders {
  /** `output/<job>` */
  readonly folder: string;
  /** `output/<job>/<job>.duckdb` */
  readonly database: string;
  /** `output/<job>/runs` */
  readonly runs: string;
  /** `output/<job>/.work`: nothing in it is for readers. */
  readonly private: string;
  /** Readings of `kbdump status` that wait for the next run. */
  readonly waiting: string;
}

/** Names the folders of a job; makes none. */
export function foldersOf({ name, output }: Job): JobFolders {
  const folder = join(output.dir, name);
  const hidden = join(folder, ".work");
  return {
    folder,
    database: join(folder, `${name}.duckdb`),
    runs: join(folder, "runs"),
    private: hidden,
    waiting: join(hidden, "indexing_status"),
  };
}

/** Makes a folder that only its owner can read, and those above it. A link in its place is refused. */
export async function makeFolder(path: string): Promise<void> {
  await refuseLink(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Holds the lock of a job while `work` goes on in its folders, which are made. BusyError when another has it. `lost` is
 * aborted, with a StopError, when the lock is no longer ours: nothing may be published then.
 */
export async function withJobFolders<T>(
  job: Job,
  now: Date,
  work: (folders: JobFolders, lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await makeFolder(folders.private);
  const lost = new AbortController();
  const unlock = await lockJob(folders.private, now, { onLost: (error) => lost.abort(error) });
  try {
    await makeFolder(folders.runs);
    await makeFolder(folders.waiting);
    return await work(folders, lost.signal);
  } finally {
    await unlock();
  }
}

/** Refuses what would lead out of the folder of a job. */
export async function refuseLinks(folders: JobFolders): Promise<void> {
  for (const path of Object.values(folders)) await refuseLink(path);
}

/** A link that somebody planted would lead what is written, or removed, elsewhere. */
async function refuseLink(path: string): Promise<void> {
  const isLink = await lstat(path).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  if (isLink) throw new StopError(`${path} is a symbolic link, which is not followed; remove it`);
}
