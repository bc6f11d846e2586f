import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InterruptedError, LostError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { isThere, makeFolder, makeOwnFolder } from "../../files/files.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { entriesOf, fenceOthers, successorOf } from "./fence.js";
import { folderStore } from "./folder-store.js";
import { foldersOf, type LeasedJob, refuseLinks } from "./job-folders.js";
import { type Lock, lockJob } from "./lock.js";
import { takenOverText } from "./lock-owner.js";

export interface LeaseOptions {
  readonly now: () => Date;
  readonly log: Log;
}

/** The lease of a job. It ends with its scope. The next owner takes over the files left in the `own` folder. */
export interface Lease extends LeasedJob, AsyncDisposable {
  /** Returns the error to report: the LostError if another run took over, otherwise the same error. Call it before the lease ends. */
  readonly explain: (error: unknown) => Promise<unknown>;
}

/**
 * Takes the lease of a job: takes the lock, makes our own folder, and fences every other owner, even without a lock. Read published
 * files only after that. Throws BusyError if another run has it, LostError if another took over meanwhile.
 */
export async function leaseFolder(job: Pick<Job, "name" | "output">, { now, log }: LeaseOptions): Promise<Lease> {
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await makeFolder(folders.private);
  const lock = await lockJob(folders.private, now());
  const token = lock.owner.id;
  const owned = { ...folders, own: join(folders.private, token) };
  const leased: LeasedJob = { ...owned, token, lost: lock.lost, store: folderStore(owned) };
  const lease: Lease = {
    ...leased,
    explain: async (error) => (await lossBehind(error, leased)) ?? error,
    [Symbol.asyncDispose]: () =>
      end(leased, lock).catch((error: unknown) => log("warn", `the lock could not be released: ${problemText(error)}`)),
  };
  return openedWith(lease, async () => {
    await makeOwnFolder(leased.own);
    await begin(leased, lock, now());
    return lease;
  });
}

/** Runs `open` under a lease. If it fails, ends the lease. */
export async function openedWith<T>(lease: Lease, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const reason = await lease.explain(error);
    await lease[Symbol.asyncDispose]();
    throw reason;
  }
}

async function begin(leased: LeasedJob, lock: Lock, now: Date): Promise<void> {
  await writeFile(join(leased.own, "owner.json"), JSON.stringify(lock.owner), { mode: 0o600 });
  await makeOwnFolder(join(leased.own, "from"));
  // A process that froze before it made its folder must not fence the current owner of the lock.
  await lock.confirm();
  await makeFolder(leased.runs);
  await makeFolder(leased.waiting);
  await fenceOthers(leased, lock, now);
}

/** Marks our folder as finished, releases the lock, and removes the folder unless it has files for the next owner. */
async function end({ own }: LeasedJob, lock: Lock): Promise<void> {
  await writeFile(join(own, "released"), "", { mode: 0o600 }).catch(() => {}); // a successor may have removed the folder
  await lock.release(own);
  for (const entry of await entriesOf(own)) {
    const isFact = ["owner.json", "released", "lock"].includes(entry.name);
    const isEmpty = entry.isDirectory() && (await entriesOf(join(own, entry.name))).length === 0;
    if (!isFact && !isEmpty) return;
  }
  await rm(own, { recursive: true, force: true });
}

/**
 * Returns the LostError behind an error if we lost the job: without our folder, any operation can fail. The LostError names the
 * successor if it left a mark, even if `error` is a LostError that does not.
 */
export async function lossBehind(error: unknown, leased: LeasedJob): Promise<LostError | undefined> {
  if (error instanceof InterruptedError) return undefined;
  const successor = await successorOf(leased);
  if (successor !== undefined) {
    return new LostError(takenOverText(successor), { cause: error });
  }
  if (error instanceof LostError) return undefined;
  if (await isThere(leased.own).catch(() => true)) return leased.lost.aborted ? leased.lost.reason : undefined;
  return new LostError(`${leased.own}, the folder of this run, was removed while it was active, so it ends`, {
    cause: error,
  });
}
