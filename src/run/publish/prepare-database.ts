import { join } from "node:path";
import { UsageError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import { type Inspected, inspectDatabase } from "../../sinks/duckdb-inspect.js";
import type { DuckDbOptions } from "../../sinks/duckdb-open.js";
import { makeOwnFolder } from "../hold/job-folders.js";
import type { Log } from "../run-options.js";
import type { Workspace } from "../workspace.js";
import { currentDatabase, databaseOptions, foreignText, setPendingAside } from "./job-database.js";
import { loadRuns, runsAfter } from "./load-runs.js";

/** What the database of a run is built upon. */
export interface PreparedDatabase {
  /** Undefined where nothing is known of earlier runs. */
  readonly previous: string | undefined;
  /** Sentences that say what of earlier runs is not in it. */
  readonly losses: readonly string[];
}

/**
 * Makes sure, before the crawl, that the database of a job can be built upon. For one that cannot be read, and for published
 * runs that it lacks, run folders are loaded, as far as they have the rows, into a database in our own folder. The broken one
 * stays where it is until the run is published, so that a run that fails before does not make anybody forget it. UsageError
 * when a database that is not ours, or no file, has its name.
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

/** Loads the published runs after the newest one of a database. What cannot be loaded is a loss. */
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
  return `${database} could not be read (${reason}), so it is built anew from ${loaded} run ${loaded === 1 ? "folder" : "folders"}. What is not there is lost: readings of kbdump status, and the history of runs that were removed`;
}
