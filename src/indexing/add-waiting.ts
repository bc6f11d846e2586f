import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { copyWithStatus } from "../database/add-status.js";
import { inspectDatabase } from "../database/inspect-database.js";
import { BusyError, LostError, StopError } from "../errors.js";
import { isDiskError, sayDiskError } from "../file-error.js";
import type { Job } from "../job/job.js";
import { type JobOptions, withJob } from "../run/bucket/with-job.js";
import { currentDatabase, databaseOptions, newDatabase, replaceDatabase } from "../run/database/job-database.js";
import { mendPending } from "../run/database/mend-published.js";
import { type Hold, makeOwnFolder } from "../run/work/job-folders.js";
import { joinWaiting, removeWaiting, waitingFiles } from "./waiting-status.js";

/** Above this size, in bytes, a database is not copied for the sake of a few rows. */
const largeDatabase = 256_000_000;

/**
 * Adds the readings that wait to the database, which is made if there is none. False, and they go on waiting for the next
 * run: the database is large, a run is at work or took over meanwhile, or the disk is full or fails. A disk problem is logged.
 */
export async function addWaiting(job: Job, options: JobOptions): Promise<boolean> {
  const { log } = options;
  try {
    return await withJob(job, options, async (hold) => {
      if ((await hold.remote?.bringDatabase(largeDatabase)) === false) return false;
      await mendPending(hold, job, log);
      const current = await currentDatabase(hold);
      if (current !== undefined && (await stat(current)).size > largeDatabase) return false;
      await renewDatabase(job, hold, current);
      return true;
    });
  } catch (error) {
    if (error instanceof BusyError || error instanceof LostError) return false;
    if (!isDiskError(error)) throw error;
    const said = sayDiskError(error, job.output.dir, "adding readings to the database");
    if (said instanceof Error) log("warn", said.message);
    return false;
  }
}

async function renewDatabase(job: Job, hold: Hold, previous: string | undefined): Promise<void> {
  const options = databaseOptions(job, hold);
  const found = previous === undefined ? undefined : await inspectDatabase(previous, options);
  if (found?.state === "corrupt") throw new StopError(corruptText(hold.shownDatabase, found.reason));
  if (found?.state === "foreign")
    throw new StopError(`${hold.shownDatabase} ${found.what}, so the readings wait beside it. Move it away`);
  const waiting = await waitingFiles(hold);
  const scratch = join(hold.own, "status");
  await makeOwnFolder(scratch);
  try {
    const target = join(scratch, newDatabase);
    await copyWithStatus(previous, target, await joinWaiting(waiting, join(scratch, "waiting.jsonl")), options);
    await replaceDatabase(target, hold, options);
    await removeWaiting(waiting, hold);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function corruptText(path: string, reason: string): string {
  return `${path} cannot be read (${reason}), so the readings wait beside it. The next kbdump run moves it aside and builds a new one`;
}
