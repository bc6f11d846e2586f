import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { copyWithStatus } from "../database/build-database.js";
import { inspectDatabase } from "../database/inspect-database.js";
import {
  currentDatabase,
  databaseOptions,
  mendPending,
  newDatabase,
  replaceDatabase,
} from "../database/job-database.js";
import type { RowFiles } from "../dump/formats/format.js";
import { jsonlText } from "../dump/formats/jsonl.js";
import { BusyError, LostError, StopError } from "../errors.js";
import { isDiskError, sayDiskError } from "../file-error.js";
import { ByteFacts } from "../files/byte-facts.js";
import { makeFolder, makeOwnFolder, readRegular, writeAside } from "../files/files.js";
import { encodeLines } from "../files/lines.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import type { Row } from "../rows/row.js";
import type { JobFolders } from "../store/folder/job-folders.js";
import { type JobOptions, type LeasedJob, leaseJob } from "../store/lease.js";

/** Leaves status snapshots under a sortable name. The next run, or the next `kbdump status`, adds them to the database. */
export async function leaveWaiting({ waiting }: JobFolders, name: string, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  await makeFolder(waiting);
  const lines = encodeLines(jsonlText.texts("indexing_status", rows));
  await writeAside(join(waiting, `${name}-${process.pid}.jsonl`), lines);
}

/** The files of waiting snapshots, oldest first. */
export async function waitingFiles({ waiting }: JobFolders): Promise<readonly string[]> {
  const names = (await readdir(waiting)).filter((name) => name.endsWith(".jsonl")).sort();
  return names.map((name) => join(waiting, name));
}

/** Joins the files in order, so that DuckDB loads one instead of the thousands that a long watch leaves. The originals stay. */
export async function joinWaiting(paths: readonly string[], target: string): Promise<readonly RowFiles[]> {
  if (paths.length === 0) return [];
  const facts = new ByteFacts();
  const file = await open(target, "w", 0o600);
  try {
    for (const path of paths) {
      const bytes = await readRegular(path); // the result of one poll
      facts.add(bytes);
      await file.writeFile(bytes);
    }
  } finally {
    await file.close();
  }
  return [{ paths: [target], ...facts.facts }];
}

/**
 * Removes waiting snapshots after the database that holds them is published. Renames each into our own folder first, so that
 * nothing is removed once another run has taken over. If a snapshot cannot be removed, the next run reads it again, without
 * adding it twice.
 */
export async function removeWaiting(paths: readonly string[], leased: LeasedJob): Promise<void> {
  for (const path of paths) {
    const target = join(leased.own, basename(path));
    await rename(path, target)
      .then(() => rm(target))
      .catch(() => {});
  }
}

/** Maximum bytes of a database that is copied just to add a few rows. */
const largeDatabase = 256_000_000;

/**
 * Adds waiting snapshots to the database, creating it if needed. Returns false, leaving them for the next run, if the database is
 * large, a run is active or took over, or the disk is full or fails. Disk problems are logged.
 */
export async function addWaiting(job: Job, options: JobOptions): Promise<boolean> {
  const { log } = options;
  try {
    await using lease = await leaseJob(job, options);
    return await addUnderLease(job, lease, log).catch(async (error: unknown) => {
      throw await lease.explain(error);
    });
  } catch (error) {
    if (error instanceof BusyError || error instanceof LostError) return false;
    if (!isDiskError(error)) throw error;
    const said = sayDiskError(error, job.output.dir, "adding readings to the database");
    if (said instanceof Error) log("warn", said.message);
    return false;
  }
}

async function addUnderLease(job: Job, leased: LeasedJob, log: Log): Promise<boolean> {
  if (!(await leased.store.fetchDatabase(largeDatabase))) return false;
  await mendPending(leased, job, log);
  const current = await currentDatabase(leased);
  if (current !== undefined && (await stat(current)).size > largeDatabase) return false;
  await renewDatabase(job, leased, current);
  return true;
}

async function renewDatabase(job: Job, leased: LeasedJob, previous: string | undefined): Promise<void> {
  const options = databaseOptions(job, leased);
  const found = previous === undefined ? undefined : await inspectDatabase(previous, options);
  if (found?.state === "corrupt") throw new StopError(corruptText(leased.shownDatabase, found.reason));
  if (found?.state === "foreign")
    throw new StopError(`${leased.shownDatabase} ${found.what}, so the readings wait beside it. Move it away`);
  const waiting = await waitingFiles(leased);
  const scratch = join(leased.own, "status");
  await makeOwnFolder(scratch);
  try {
    const target = join(scratch, newDatabase);
    await copyWithStatus(previous, target, await joinWaiting(waiting, join(scratch, "waiting.jsonl")), options);
    await replaceDatabase(target, leased, options);
    await removeWaiting(waiting, leased);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function corruptText(path: string, reason: string): string {
  return `${path} cannot be read (${reason}), so the readings wait beside it. The next kbdump run moves it aside and builds a new one`;
}
