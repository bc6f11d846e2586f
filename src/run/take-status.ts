import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { BusyError } from "../errors.js";
import type { Job } from "../job/job.js";
import { namedDatasets } from "../job/named-datasets.js";
import { replaceDatabase } from "../sinks/duckdb-replace.js";
import { copyWithStatus } from "../sinks/duckdb-status.js";
import { captureStatus, type StatusReading } from "./capture-status.js";
import { runIdFrom } from "./earlier-work.js";
import { foldersOf, type JobFolders, makeFolder, refuseLinks, withJobFolders } from "./job-folders.js";
import { type RunOptions, withDefaults } from "./run-options.js";
import { leaveWaiting, removeWaiting, waitingFiles } from "./waiting-status.js";
import { withClient } from "./with-client.js";

/** A reading of the indexing status, and where it went. */
export interface TakenStatus extends StatusReading {
  readonly database: string;
  /** False: the rows wait beside the database until the next run adds them, because it is large or a run is at work. */
  readonly added: boolean;
}

/** Above this size, in bytes, a database is not copied for the sake of a few rows. */
const largeDatabase = 256_000_000;

/** Takes one snapshot of the indexing status of every batch of the job and adds it to the database of the job. */
export async function takeStatus(job: Job, options: RunOptions = {}): Promise<TakenStatus> {
  const setting = withDefaults(options);
  const reading = await withClient(job, setting, (api) => captureStatus(api, namedDatasets(job), setting.now));
  const folders = foldersOf(job);
  await refuseLinks(folders);
  await leaveWaiting(folders, runIdFrom(setting.now()), reading.rows);
  return { ...reading, database: folders.database, added: await addWaiting(job, setting.now()) };
}

/** Adds what waits to the database, unless that would cost too much or a run is at work, which does it at its end. */
async function addWaiting(job: Job, now: Date): Promise<boolean> {
  try {
    return await withJobFolders(job, now, async (folders) => {
      const size = await sizeOf(folders.database);
      if (size !== undefined && size > largeDatabase) return false;
      await renewDatabase(job, folders, size === undefined ? undefined : folders.database);
      return true;
    });
  } catch (error) {
    if (error instanceof BusyError) return false;
    throw error;
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
    await copyWithStatus(previous, target, waiting, options);
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
