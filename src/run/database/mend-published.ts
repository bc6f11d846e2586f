import { link, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isThere } from "../../dump/files/is-there.js";
import { manifestName } from "../../dump/manifest/manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import { mendLatest } from "../../dump/publish/latest.js";
import { UsageError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { pendingDatabase } from "../work/fence.js";
import type { Hold } from "../work/job-folders.js";
import { endMovesAside } from "../work/move-aside.js";
import { databaseOptions, mendDatabase, newDatabase } from "./job-database.js";

/**
 * Brings the database and `latest` up to date with the folder of runs, after an earlier run that ended between its commit and
 * these steps. A step that fails is logged as a warning, and tried again when this run is published. Throws UsageError if
 * something that is no link is at `latest` and cannot be moved aside.
 */
export async function mendPublished(hold: Hold, job: Job, log: Log): Promise<void> {
  await mendPending(hold, job, log);
  await mendLatest(hold, job.name, log).catch(async (error: unknown) => {
    if (error instanceof UsageError || !(await isThere(hold.own))) throw error; // our folder is gone: we were fenced
    log("warn", `latest could not be mended: ${problemText(error)}`);
  });
}

/** The same for the database alone. */
export async function mendPending(hold: Hold, job: Job, log: Log): Promise<void> {
  await endMovesAside(hold);
  await keepPending(hold);
  await mendDatabase(hold, databaseOptions(job, hold), log);
}

/**
 * Finds the database of a run that ended between its commit and the replacement of the database: it still lies in the work of
 * that run. If there are several, the last one contains the others. The file gets a second name and keeps its first, so that a
 * successor that fences us at this moment finds it under one of them.
 */
async function keepPending(hold: Hold): Promise<void> {
  for (const runId of (await readdir(hold.own)).filter(isRunId).sort()) {
    const built = join(hold.own, runId, "scratch", newDatabase);
    const isPublished = await isThere(join(hold.runs, runId, manifestName));
    if (!isPublished || !(await isThere(built))) continue;
    await rm(join(hold.own, pendingDatabase), { force: true });
    await link(built, join(hold.own, pendingDatabase));
  }
}
