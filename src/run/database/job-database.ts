import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import { ifAbsent, isThere } from "../../dump/files/is-there.js";
import { StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { pendingDatabase } from "../work/fence.js";
import type { Hold } from "../work/job-folders.js";
import { moveAside } from "../work/move-aside.js";

/** The file in the scratch folder of a run in which its database is built. */
export const newDatabase = "new.duckdb";

/** DuckDB's memory limit and temporary folder for the database of a job. */
export function databaseOptions(job: Pick<Job, "output">, hold: Hold, signal?: AbortSignal): DuckDbOptions {
  return { memory: job.output.memory, temporary: join(hold.own, "spill"), signal };
}

/** Finds the newest database of a job: one that still waits to be published, or else the published one. */
export async function currentDatabase(hold: Hold): Promise<string | undefined> {
  const pending = join(hold.own, pendingDatabase);
  if (await isThere(pending)) return pending;
  return (await isThere(hold.database)) ? hold.database : undefined;
}

/**
 * Replaces the published database: that of the bucket if there is one, and that of the folder by one rename from our own. If that
 * fails, the new database stays in our folder.
 * Throws StopError if the published file is not a kbdump database. An unreadable database is moved aside; gives its new path.
 * The write-ahead log of the old database is removed first: DuckDB would replay it on the new one and delete the wrong rows.
 */
export async function replaceDatabase(
  built: string,
  hold: Hold,
  options: DuckDbOptions,
  isDamaged = false,
): Promise<string | undefined> {
  const { inspectDatabase } = await import("../../database/inspect-database.js"); // heavy; other formats do without
  const found = await inspectDatabase(hold.database, options);
  if (found.state === "foreign") throw new StopError(foreignText(hold, found));
  await hold.remote?.publishDatabase(built);
  const keepsOld = found.state === "corrupt" || (isDamaged && found.state === "ours");
  const aside = keepsOld ? await moveAside(hold, hold.database) : undefined;
  const log = join(hold.own, "database.wal");
  await rename(`${hold.database}.wal`, log).then(() => rm(log), ifAbsent(undefined));
  await rename(built, hold.database);
  // A rename of one file onto another name of it keeps both names. And a waiting database is older than this one.
  for (const path of [built, join(hold.own, pendingDatabase)]) await rm(path, { force: true });
  return aside;
}

/**
 * Publishes the waiting database of an earlier run, whose folder is published already. Removes it instead if it is no newer
 * than the published one: then its holder was killed after the rename.
 */
export async function mendDatabase(hold: Hold, options: DuckDbOptions, log: Log): Promise<void> {
  const pending = join(hold.own, pendingDatabase);
  if (!(await isThere(pending))) return;
  const { inspectDatabase, inspectWholly } = await import("../../database/inspect-database.js");
  const [waiting, published] = [await inspectWholly(pending, options), await inspectDatabase(hold.database, options)];
  if (waiting.state !== "ours") return setPendingAside(hold, log);
  if (published.state === "ours" && !isAfter(waiting.newest, published.newest)) return rm(pending);
  await replaceDatabase(pending, hold, options).then(
    (aside) => {
      log("info", `${hold.shownDatabase} was brought up to date: an earlier run could not do it`);
      if (aside !== undefined) log("warn", `${hold.shownDatabase} could not be read; it was moved to ${aside}`);
    },
    async (error: unknown) => {
      if (!(await isThere(hold.own))) throw error; // we were fenced
      log("warn", `${hold.shownDatabase} could not be replaced: ${problemText(error)}`);
    },
  );
}

/** Keeps an unreadable waiting database beside the published one: the disk may have failed only for a moment. */
export async function setPendingAside(hold: Hold, log: Log): Promise<void> {
  const aside = await moveAside(hold, join(hold.own, pendingDatabase));
  log("warn", `a database that was to replace ${hold.shownDatabase} cannot be read; it was moved to ${aside}`);
}

/** Whether a run comes after another one; null is before every run. */
const isAfter = (run: string | null, other: string | null) => (run ?? "") > (other ?? "");

/** Why a database is left alone. */
export function foreignText({ shownDatabase }: Hold, { what }: { readonly what: string }): string {
  return `${shownDatabase} ${what}, so it is not the database of this job and is not replaced. Move it away, or give the job another name`;
}
