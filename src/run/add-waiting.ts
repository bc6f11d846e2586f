import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BusyError } from "../errors.js";
import type { Job } from "../job/job.js";
import { replaceDatabase } from "../sinks/duckdb-replace.js";
import { copyWithStatus } from "../sinks/duckdb-status.js";
import { sayDiskFull } from "./disk-full.js";
import { type JobFolders, makeFolder, withJobFolders } from "./job-folders.js";
import type { Log } from "./run-options.js";
import { joinWaiting, removeWaiting, waitingFiles } from "./waiting-status.js";

/** Above this size, in bytes, a database is not copied for the sake of a few rows. */
const largeDatabase = 256_000_000;

/**
 * Adds the readings that wait to the database, which is made if there is none. False, and they go on waiting for the next
 * run: where the database is large, a run is at work, or the disk is full, which is said.
 */
export async function addWaiting(job: Job, now: Date, log: Log): Promise<boolean> {
  try {
    return await withJobFolders(job, now, async (folders) => {
      const size = await sizeOf(folders.database);
      if (size !== undefined && size > largeDatabase) return false;
      await renewDatabase(job, folders, size === undefined ? undefined : folders.database);
      return true;
    });
  } catch (error) {
    if (error instanceof BusyError) return false;
    const said = sayDiskFull(error, job.output.dir, "adding readings to the database");
    if (said === error || !(said instanceof Error)) throw error;
    log("warn", said.message);
    return false;
  }
}

async function renewDatabase(job: Job, folders: JobFolders, previous: string | undefined): Promise<void> {
  const waiting = await waitingFiles(folders);
  const scratch = join(folders.private, "status");
  await makeFolder(scratch);
  await rm(scratch, { recursive: true }); // what a killed one left: DuckDB would replay its log
  await makeFolder(scratch);
  try {
    const target = join(scratch, "new.duckdb");
    const options = { memory: job.output.memory, temporary: join(scratch, "spill") };
    await copyWithStatus(previous, target, await joinWaiting(waiting, join(scratch, "waiting.jsonl")), options);
    await replaceDatabase(target, folders.database);
    await removeWaiting(waiting);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
