import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { refuseLink } from "../../dump/files/regular-file.js";
import { isRunId, restoreFolderOf } from "../../dump/manifest/run-id.js";
import { problemText } from "../../file-error.js";
import type { Log } from "../../log.js";
import { entriesOf } from "../../run/work/copy-work.js";
import { makeFolder } from "../../run/work/job-folders.js";
import { lockJob } from "../../run/work/lock.js";

export interface RestoreFolderOptions {
  readonly now: () => Date;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The folder of a restore, for as long as no other process takes its place. */
export interface HeldFolder {
  readonly path: string;
  /** Aborted, too, soon after another process took over the lock of this one. */
  readonly signal: AbortSignal;
  /** Rejects with LostError if another process has the lock: a process that was frozen learns of it only by looking. */
  readonly checkOwn: () => Promise<void>;
}

/**
 * Holds the folder of a restore while `work` runs; makes it if there is none. BusyError if another restore of the same run is at work,
 * StopError if a link is in it, or in its place.
 */
export async function withRestoreFolder<T>(
  runFolder: string,
  { now, log, signal }: RestoreFolderOptions,
  work: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
  const folder = restoreFolderOf(runFolder);
  await refuseLinksBeside(runFolder);
  await makeFolder(folder);
  const lost = new AbortController();
  const lock = await lockJob(folder, now(), {
    onLost: (error) => lost.abort(error),
    busy: "another restore of this run is at work",
  });
  const checkOwn = async () => {
    const loss = await lock.lossOf();
    if (loss) throw loss;
  };
  const own = join(folder, `.${lock.holder.id}`);
  await makeFolder(own);
  await removeFolderOf(lock.replaced?.id ?? "", folder);
  try {
    return await work({ path: folder, signal: AbortSignal.any([signal, lost.signal]), checkOwn });
  } finally {
    await lock
      .release(own)
      .catch((error: unknown) => log("warn", `the lock could not be let go: ${problemText(error)}`));
    await rm(own, { recursive: true, force: true });
  }
}

/**
 * Refuses symbolic links in the folder of the restores of a run, and in its place: a run that you received may carry them, and they
 * would lead the journal and the dumps elsewhere. StopError names the first. Changes nothing.
 */
export async function refuseLinksBeside(runFolder: string): Promise<void> {
  const folder = restoreFolderOf(runFolder);
  await refuseLink(folder);
  await refuseLinksIn(folder);
}

async function refuseLinksIn(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await refuseLinksIn(path);
    else if (entry.isSymbolicLink() && !(await isLatest(path))) await refuseLink(path);
  }
}

/** Whether a link is the one that a run makes to its newest dump, which stays inside the folder. */
async function isLatest(path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => "");
  return basename(path) === "latest" && dirname(target) === "runs" && isRunId(basename(target));
}

/** Removes the folder that a killed restore had of its own. Its id comes from a file: no other text must become a path. */
async function removeFolderOf(id: string, folder: string): Promise<void> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    await rm(join(folder, `.${id}`), { recursive: true, force: true });
}

/** Gives `work` a folder that is gone afterwards: what only a plan needs is kept nowhere. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "kbdump-restore-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
