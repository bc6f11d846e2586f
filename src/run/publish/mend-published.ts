import { link, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import { problemText } from "../disk-error.js";
import { pendingDatabase } from "../hold/fence.js";
import { isThere } from "../hold/is-there.js";
import type { Hold } from "../hold/job-folders.js";
import { endMovesAside } from "../hold/move-aside.js";
import { isRunId } from "../run-id.js";
import type { Log } from "../run-options.js";
import { databaseOptions, mendDatabase, newDatabase } from "./job-database.js";
import { mendLatest } from "./latest.js";

/**
 * Does what an earlier holder, whose run is published, did not get done: the database and `latest` follow from the folder of
 * runs. What cannot be done now is a warning, and is tried again when this run is published. UsageError where something that
 * is not ours has the name `latest`.
 */
export async function mendPublished(hold: Hold, job: Job, log: Log): Promise<void> {
  await mendPending(hold, job, log);
  await mendLatest(hold, job.name, log).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    log("warn", `latest could not be mended: ${problemText(error)}`);
  });
}

/** The part of it that is not about `latest`: for who only needs the database. */
export async function mendPending(hold: Hold, job: Job, log: Log): Promise<void> {
  await endMovesAside(hold);
  await keepPending(hold);
  await mendDatabase(hold, databaseOptions(job, hold), log);
}

/**
 * The database of a run that was published, and then killed or refused by the disk, lies in its work still. Of several, each
 * holds those before it. It gets a second name instead of another one: a successor that fences us in this moment finds it
 * under one of them.
 */
async function keepPending(hold: Hold): Promise<void> {
  for (const runId of (await readdir(hold.own)).filter(isRunId).sort()) {
    const built = join(hold.own, runId, "scratch", newDatabase);
    const isPublished = await isThere(join(hold.runs, runId, "manifest.json"));
    if (!isPublished || !(await isThere(built))) continue;
    await rm(join(hold.own, pendingDatabase), { force: true });
    await link(built, join(hold.own, pendingDatabase));
  }
}
