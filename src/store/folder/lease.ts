import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InterruptedError, LostError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { isThere } from "../../files/files.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { fenceOthers, successorOf } from "./fence.js";
import { foldersOf, type Hold, makeFolder, makeOwnFolder, refuseLinks } from "./job-folders.js";
import { type Lock, lockJob } from "./lock.js";

export interface HoldOptions {
  readonly now: () => Date;
  readonly log: Log;
}

/**
 * Holds a job while `work` runs. Takes the lock, makes its own folder, and fences every other holder, whatever the lock says.
 * Only then does `work` start and read the published files. Throws BusyError if another run holds the job, and LostError if a
 * successor fenced us meanwhile. The next holder takes over the files that `work` leaves in the own folder.
 */
export async function withHold<T>(
  job: Pick<Job, "name" | "output">,
  { now, log }: HoldOptions,
  work: (hold: Hold) => Promise<T>,
): Promise<T> {
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await makeFolder(folders.private);
  const lost = new AbortController();
  const lock = await lockJob(folders.private, now(), { onLost: (error) => lost.abort(error) });
  const token = lock.holder.id;
  const hold: Hold = { ...folders, token, own: join(folders.private, token), lost: lost.signal };
  try {
    await makeOwnFolder(hold.own);
    return await begin(hold, lock, now())
      .then(() => work(hold))
      .catch(async (error: unknown) => {
        throw (await lossBehind(error, hold)) ?? error;
      });
  } finally {
    await end(hold, lock).catch((error: unknown) => log("warn", `the lock could not be let go: ${problemText(error)}`));
  }
}

async function begin(hold: Hold, lock: Lock, now: Date): Promise<void> {
  await writeFile(join(hold.own, "holder.json"), JSON.stringify(lock.holder), { mode: 0o600 });
  await makeOwnFolder(join(hold.own, "from"));
  // A process that was frozen before it made its folder must not fence the present holder of the lock.
  const loss = await lock.lossOf();
  if (loss) throw loss;
  await makeFolder(hold.runs);
  await makeFolder(hold.waiting);
  await fenceOthers(hold, lock, now);
}

/** Marks the own folder as finished and releases the lock. */
async function end(hold: Hold, lock: Lock): Promise<void> {
  const isOurs = await isThere(hold.own).catch(() => true);
  try {
    if (isOurs) await writeFile(join(hold.own, "released"), "", { mode: 0o600 }).catch(() => {});
  } finally {
    await lock.release(hold.own);
  }
  if (isOurs && !(await hasLeftovers(hold))) await rm(hold.own, { recursive: true, force: true });
}

/** Whether the folder holds files for the next holder. */
async function hasLeftovers({ own }: Hold): Promise<boolean> {
  const facts = new Set(["holder.json", "released", "lock"]);
  for (const name of await readdir(own).catch(() => [])) {
    if (facts.has(name)) continue;
    const isEmpty = await readdir(join(own, name)).then(
      (names) => names.length === 0,
      () => false,
    );
    if (!isEmpty) return true;
  }
  return false;
}

/**
 * Gives the LostError behind an error, if we lost the job: once our folder is gone, any operation can fail in any way. It names
 * the successor, if that left word, even where the error is a LostError that could not.
 */
export async function lossBehind(error: unknown, hold: Hold): Promise<LostError | undefined> {
  if (error instanceof InterruptedError) return undefined;
  const successor = await successorOf(hold);
  if (successor !== undefined) {
    const text = `this job was taken over by ${successor}: this run gave no sign of life for two minutes, or its lock was removed. This run ends; the other one has what was read`;
    return new LostError(text, { cause: error });
  }
  if (error instanceof LostError) return undefined;
  if (await isThere(hold.own).catch(() => true)) return hold.lost.aborted ? hold.lost.reason : undefined;
  return new LostError(`${hold.own}, the folder of this run, was removed while it was at work, so it ends`, {
    cause: error,
  });
}
