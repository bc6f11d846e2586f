import { link, readdir, readlink, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDbOptions } from "../duckdb/open-duckdb.js";
import { manifestName } from "../dump/manifest.js";
import { readRunFacts } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { isThere, kindOf } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { endMovesAside, moveAside, otherThanLink, pendingDatabase } from "../store/folder/folder-store.js";
import { newestComplete, runIdsIn } from "../store/folder/job-folders.js";
import type { LeasedJob } from "../store/lease.js";

/** The name of the new database in a run's scratch folder. */
export const newDatabase = "new.duckdb";

/** DuckDB's memory limit and temporary folder for the database of a job. */
export function databaseOptions(job: Pick<Job, "output">, leased: LeasedJob, signal?: AbortSignal): DuckDbOptions {
  return { memory: job.output.memory, temporary: join(leased.own, "spill"), signal };
}

/** The newest database of a job: one that is waiting to be published, otherwise the published one. */
export async function currentDatabase(leased: LeasedJob): Promise<string | undefined> {
  const pending = join(leased.own, pendingDatabase);
  if (await isThere(pending)) return pending;
  return (await isThere(leased.database)) ? leased.database : undefined;
}

/**
 * Replaces the published database. If that fails, the new database stays where it is. Throws StopError if the published file is not a
 * kbdump database. Moves an unreadable database aside and returns its new path.
 */
export async function replaceDatabase(
  built: string,
  leased: LeasedJob,
  options: DuckDbOptions,
  isDamaged = false,
): Promise<string | undefined> {
  const { inspectDatabase } = await import("./inspect-database.js"); // slow to load; other formats do not need it
  const found = await inspectDatabase(leased.database, options);
  if (found.state === "foreign") throw new StopError(foreignText(leased, found));
  return leased.store.replaceDatabase(built, found.state === "corrupt" || (isDamaged && found.state === "ours"));
}

/**
 * Publishes the waiting database of an earlier run whose folder is already published. If it is not newer than the published
 * one, its owner was killed after the rename, and it is removed.
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
      if (!(await isThere(leased.own))) throw error; // another run has taken over
      log("warn", `${leased.shownDatabase} could not be replaced: ${problemText(error)}`);
    },
  );
}

/** Moves an unreadable waiting database next to the published one. It is kept, because the disk error may be temporary. */
export async function setPendingAside(leased: LeasedJob, log: Log): Promise<void> {
  const aside = await moveAside(leased, join(leased.own, pendingDatabase));
  log("warn", `a database that was to replace ${leased.shownDatabase} cannot be read; it was moved to ${aside}`);
}

/** Whether a run comes after another. null comes before every run. */
const isAfter = (run: string | null, other: string | null) => (run ?? "") > (other ?? "");

/**
 * The reason for not replacing a file that is in the place of the database. `what` completes the sentence, as in `is not a
 * file`.
 */
export function foreignText({ shownDatabase }: LeasedJob, { what }: { readonly what: string }): string {
  return `${shownDatabase} ${what}, so it is not the database of this job and is not replaced. Move it away, or give the job another name`;
}

/**
 * Updates the database and `latest` if an earlier run ended between its commit and these steps. A failed step is logged as a
 * warning, and tried again when this run is published. Throws UsageError if `latest` is not a link and cannot be moved aside.
 */
export async function mendPublished(leased: LeasedJob, job: Job, log: Log): Promise<void> {
  await mendPending(leased, job, log);
  await mendLatest(leased, job.name, log).catch(async (error: unknown) => {
    if (error instanceof UsageError || !(await isThere(leased.own))) throw error; // our folder is gone: another run has taken over
    log("warn", `latest could not be repaired: ${problemText(error)}`);
  });
}

/**
 * Points `latest` to the newest complete run of the job, in case an earlier run failed to. If `latest` is not a link, for example a
 * folder left by copying or unpacking, moves it aside. Throws UsageError, and changes nothing, if that is not possible.
 */
export async function mendLatest(leased: LeasedJob, job: string, log: Log): Promise<void> {
  const path = join(leased.folder, "latest");
  const other = await otherThanLink(path);
  if (other) {
    const run = other.isDirectory() ? await readRunFacts(path) : undefined;
    const what = run ? `${kindOf(other)}, a copy of run ${run.run_id},` : kindOf(other);
    const aside = await moveAside(leased, path).catch(async (error: unknown) => {
      if (!(await isThere(leased.own))) throw error; // another run has taken over
      throw new UsageError(
        `${path} is ${what} where a link belongs, and it cannot be moved aside (${problemText(error)}). Move it away`,
        [],
      );
    });
    log("warn", `${path} was ${what} where a link belongs: it was moved to ${aside}`);
  }
  const link = await readlink(path).catch(() => undefined);
  const isElsewhere = link !== undefined && dirname(link) !== "runs";
  if (isElsewhere && (await stat(path).catch(() => undefined))) return; // a link that the user made
  const [last] = await runIdsIn(leased.runs);
  if (last !== undefined && link === join("runs", last)) return;
  const newest = await newestComplete(leased, { job });
  if (newest !== undefined && link !== join("runs", newest)) await leased.store.pointLatest(newest);
}

/** Like mendPublished, but does not change `latest`. */
export async function mendPending(leased: LeasedJob, job: Job, log: Log): Promise<void> {
  await endMovesAside(leased);
  await keepPending(leased);
  await mendDatabase(leased, databaseOptions(job, leased), log);
}

/**
 * Keeps the database of a run that ended between its commit and the replacement of the database: it is still in that run's
 * work folder. If there are several, the last one includes the others. The file is hard-linked and keeps its first name, so
 * that a successor that takes over now finds it under one of the two names.
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
