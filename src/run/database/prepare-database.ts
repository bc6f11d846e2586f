import { join } from "node:path";
import { type Inspected, inspectDatabase } from "../../database/inspect-database.js";
import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import { UsageError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { makeOwnFolder } from "../work/job-folders.js";
import type { Workspace } from "../work/workspace.js";
import { currentDatabase, databaseOptions, foreignText, setPendingAside } from "./job-database.js";
import { loadRuns, runsAfter } from "./load-runs.js";

/** The database to which a run is added. */
export interface PreparedDatabase {
  /** Undefined where nothing is known of earlier runs. */
  readonly previous: string | undefined;
  /** Sentences that say what of earlier runs is not in it. */
  readonly losses: readonly string[];
}

/**
 * Makes sure, before the crawl, that the next run can be added to the database of the job. If the database is unreadable or
 * lacks published runs, their folders are loaded into a database in our own folder. A broken database stays in place until
 * this run is published, so that a failing run does not hide the damage. Throws UsageError if the file is not a kbdump
 * database.
 */
export async function prepareDatabase(
  workspace: Workspace,
  job: Job,
  log: Log,
  signal: AbortSignal,
): Promise<PreparedDatabase> {
  const options = databaseOptions(job, workspace, signal);
  const published = await inspectDatabase(workspace.database, options);
  if (published.state === "foreign") throw new UsageError(foreignText(workspace, published), []);
  const path = await currentDatabase(workspace);
  const found = path === undefined || path === workspace.database ? published : await inspectDatabase(path, options);
  if (found.state === "ours") return loadMissing(workspace, job, { path, newest: found.newest }, options, log);
  if (path !== undefined && path !== workspace.database) {
    await setPendingAside(workspace, log); // the published one, and the run folders, have what is left of it
    return prepareDatabase(workspace, job, log, signal);
  }
  const { previous, losses, loaded } = await loadMissing(
    workspace,
    job,
    { path: undefined, newest: null },
    options,
    log,
  );
  return { previous, losses: found.state === "corrupt" ? [lossText(workspace, found, loaded), ...losses] : losses };
}

/** The same where some of the blocks of `previous` turn out to be damaged. */
export async function prepareWithout(
  previous: string,
  workspace: Workspace,
  job: Job,
  options: DuckDbOptions,
  log: Log,
): Promise<PreparedDatabase> {
  const reason = "some of its blocks are damaged";
  const base = { path: undefined, newest: null };
  const { losses, loaded, ...prepared } = await loadMissing(workspace, job, base, options, log);
  const isPublished = previous === workspace.database;
  return { ...prepared, losses: isPublished ? [lossText(workspace, { reason }, loaded), ...losses] : losses };
}

/** Loads the published runs that are newer than a database. `losses` names those that cannot be loaded. */
async function loadMissing(
  workspace: Workspace,
  job: Job,
  base: { readonly path: string | undefined; readonly newest: string | null },
  options: DuckDbOptions,
  log: Log,
): Promise<PreparedDatabase & { readonly loaded: number }> {
  const runs = await runsAfter(base.newest, workspace.runs, job.name);
  if (runs.length === 0) return { previous: base.path, losses: [], loaded: 0 };
  log(
    "info",
    `loading ${runs.length} published ${runs.length === 1 ? "run" : "runs"} that ${workspace.database} lacks`,
  );
  const scratch = join(workspace.scratch, "loading");
  await makeOwnFolder(scratch);
  const { database, loaded, failures } = await loadRuns(runs, base.path, scratch, options);
  for (const failure of failures) log("warn", failure);
  return { previous: database, losses: failures, loaded };
}

function lossText(
  { database }: Workspace,
  { reason }: Pick<Inspected & { state: "corrupt" }, "reason">,
  loaded: number,
) {
  return `${database} could not be read (${reason}), so it is built anew from ${loaded} run ${loaded === 1 ? "folder" : "folders"}. Everything else is lost: readings of kbdump status, and the history of runs that were removed`;
}
