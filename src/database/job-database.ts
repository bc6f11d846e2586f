import { link, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDbOptions } from "../duckdb/open-duckdb.js";
import { manifestName } from "../dump/manifest.js";
import { isRunId } from "../dump/run-id.js";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { pendingDatabase } from "../store/folder/fence.js";
import type { LeasedJob } from "../store/folder/job-folders.js";
import { endMovesAside, moveAside } from "../store/folder/remove-from.js";
import { mendLatest } from "../store/latest.js";

/** The file in the scratch folder of a run in which its database is built. */
export const newDatabase = "new.duckdb";

/** DuckDB's memory limit and temporary folder for the database of a job. */
export function databaseOptions(job: Pick<Job, "output">, leased: LeasedJob, signal?: AbortSignal): DuckDbOptions {
  return { memory: job.output.memory, temporary: join(leased.own, "spill"), signal };
}

/** Finds the newest database of a job: one that still waits to be published, or else the published one. */
export async function currentDatabase(leased: LeasedJob): Promise<string | undefined> {
  const pending = join(leased.own, pendingDatabase);
  if (await isThere(pending)) return pending;
  return (await isThere(leased.database)) ? leased.database : undefined;
}

/**
 * Replaces the published database: that of the bucket if there is one, and that of the folder by one rename from our own. If that
 * fails, the new database stays in our folder.
 * Throws StopError if the published file is not a kbdump database. An unreadable database is moved aside; gives its new path.
 * The write-ahead log of the old database is removed first: DuckDB would replay it on the new one and delete the wrong rows.
 */
export async function replaceDatabase(
  built: string,
  leased: LeasedJob,
  options: DuckDbOptions,
  isDamaged = false,
): Promise<string | undefined> {
  const { inspectDatabase } = await import("./inspect-database.js"); // heavy; other formats do without
  const found = await inspectDatabase(leased.database, options);
  if (found.state === "foreign") throw new StopError(foreignText(leased, found));
  await leased.remote?.publishDatabase(built);
  const keepsOld = found.state === "corrupt" || (isDamaged && found.state === "ours");
  const aside = keepsOld ? await moveAside(leased, leased.database) : undefined;
  const log = join(leased.own, "database.wal");
  await rename(`${leased.database}.wal`, log).then(() => rm(log), ifAbsent(undefined));
  await rename(built, leased.database);
  // A rename of one file onto another name of it keeps both names. And a waiting database is older than this one.
  for (const path of [built, join(leased.own, pendingDatabase)]) await rm(path, { force: true });
  return aside;
}

/**
 * Publishes the waiting database of an earlier run, whose folder is published already. Removes it instead if it is no newer
 * than the published one: then its holder was killed after the rename.
 */
async function mendDatabase(leased: LeasedJob, options: DuckDbOptions, log: Log): Promise<void> {
  const pending = join(leased.own, pendingDatabase);
  if (!(await isThere(pending))) return;
  const { inspectDatabase, inspectWholly } = await import("./inspect-database.js");
  const [waiting, published] = [await inspectWholly(pending, options), await inspectDatabase(leased.database, options)];
  if (waiting.state !== "ours") return setPendingAside(leased, log);
  if (published.state === "ours" && !isAfter(waiting.newest, published.newest)) return rm(pending);
  await replaceDatabase(pending, leased, options).then(
    (aside) => {
      log("info", `${leased.shownDatabase} was brought up to date: an earlier run could not do it`);
      if (aside !== undefined) log("warn", `${leased.shownDatabase} could not be read; it was moved to ${aside}`);
    },
    async (error: unknown) => {
      if (!(await isThere(leased.own))) throw error; // we were fenced
      log("warn", `${leased.shownDatabase} could not be replaced: ${problemText(error)}`);
    },
  );
}

/** Keeps an unreadable waiting database beside the published one: the disk may have failed only for a moment. */
export async function setPendingAside(leased: LeasedJob, log: Log): Promise<void> {
  const aside = await moveAside(leased, join(leased.own, pendingDatabase));
  log("warn", `a database that was to replace ${leased.shownDatabase} cannot be read; it was moved to ${aside}`);
}

/** Whether a run comes after another one; null is before every run. */
const isAfter = (run: string | null, other: string | null) => (run ?? "") > (other ?? "");

/** Why a database is left alone. */
export function foreignText({ shownDatabase }: LeasedJob, { what }: { readonly what: string }): string {
  return `${shownDatabase} ${what}, so it is not the database of this job and is not replaced. Move it away, or give the job another name`;
}

/**
 * Brings the database and `latest` up to date with the folder of runs, after an earlier run that ended between its commit and
 * these steps. A step that fails is logged as a warning, and tried again when this run is published. Throws UsageError if
 * something that is no link is at `latest` and cannot be moved aside.
 */
export async function mendPublished(leased: LeasedJob, job: Job, log: Log): Promise<void> {
  await mendPending(leased, job, log);
  await mendLatest(leased, job.name, log).catch(async (error: unknown) => {
    if (error instanceof UsageError || !(await isThere(leased.own))) throw error; // our folder is gone: we were fenced
    log("warn", `latest could not be mended: ${problemText(error)}`);
  });
}

/** The same for the database alone. */
export async function mendPending(leased: LeasedJob, job: Job, log: Log): Promise<void> {
  await endMovesAside(leased);
  await keepPending(leased);
  await mendDatabase(leased, databaseOptions(job, leased), log);
}

/**
 * Finds the database of a run that ended between its commit and the replacement of the database: it still lies in the work of
 * that run. If there are several, the last one contains the others. The file gets a second name and keeps its first, so that a
 * successor that fences us at this moment finds it under one of them.
 */
async function keepPending(leased: LeasedJob): Promise<void> {
  for (const runId of (await readdir(leased.own)).filter(isRunId).sort()) {
    const built = join(leased.own, runId, "scratch", newDatabase);
    const isPublished = await isThere(join(leased.runs, runId, manifestName));
    if (!isPublished || !(await isThere(built))) continue;
    await rm(join(leased.own, pendingDatabase), { force: true });
    await link(built, join(leased.own, pendingDatabase));
  }
}
