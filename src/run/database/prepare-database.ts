import { rm } from "node:fs/promises";
import { join } from "node:path";
import { damagedBlocks, type Inspected, inspectWholly } from "../../database/inspect-database.js";
import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import { UsageError } from "../../errors.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { makeOwnFolder } from "../work/job-folders.js";
import type { Workspace } from "../work/workspace.js";
import { currentDatabase, databaseOptions, foreignText, setPendingAside } from "./job-database.js";
import { type BringRun, loadRuns, runsAfter } from "./load-runs.js";

/** The database to which a run is added. */
export interface PreparedDatabase {
  /** Undefined where nothing is known of earlier runs. */
  readonly previous: string | undefined;
  /** Sentences that say what of earlier runs is not in it. */
  readonly losses: readonly string[];
  /** The published database cannot be read; it is to be kept aside. */
  readonly isDamaged: boolean;
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
  const published = await inspectWholly(workspace.database, options);
  if (published.state === "foreign") throw new UsageError(foreignText(workspace, published), []);
  const path = await currentDatabase(workspace);
  const found = path === undefined || path === workspace.database ? published : await inspectWholly(path, options);
  const isDamaged = published.state === "corrupt";
  if (found.state === "ours") {
    const base = { path, newest: found.newest };
    return { ...(await loadMissing(workspace, job, base, options, log)), isDamaged };
  }
  if (path !== undefined && path !== workspace.database) {
    await setPendingAside(workspace, log); // the published one, and the run folders, have what is left of it
    return prepareDatabase(workspace, job, log, signal);
  }
  const { previous, losses, loaded } = await loadMissing(workspace, job, nothing, options, log);
  const lost = found.state === "corrupt" ? [lossText(workspace, found, loaded)] : [];
  return { previous, losses: [...lost, ...losses], isDamaged };
}

/** The same where some of the blocks of `previous` turn out to be damaged after all. */
export async function prepareWithout(
  previous: string,
  workspace: Workspace,
  job: Job,
  options: DuckDbOptions,
  log: Log,
): Promise<PreparedDatabase> {
  const { losses, loaded, ...prepared } = await loadMissing(workspace, job, nothing, options, log);
  const isDamaged = previous === workspace.database;
  const lost = isDamaged ? [lossText(workspace, { reason: damagedBlocks }, loaded)] : [];
  return { ...prepared, losses: [...lost, ...losses], isDamaged };
}

/** The base of a database that is built from the run folders alone. */
const nothing: Base = { path: undefined, newest: null };

/** A database and the newest run in it. */
interface Base {
  readonly path: string | undefined;
  readonly newest: string | null;
}

/** Loads the published runs that are newer than a database. `losses` names those that cannot be loaded. */
async function loadMissing(
  workspace: Workspace,
  job: Job,
  base: Base,
  options: DuckDbOptions,
  log: Log,
): Promise<Omit<PreparedDatabase, "isDamaged"> & { readonly loaded: number }> {
  const runs = await runsAfter(base.newest, workspace.runs, job.name);
  if (runs.length === 0) return { previous: base.path, losses: [], loaded: 0 };
  log(
    "info",
    `loading ${runs.length} published ${runs.length === 1 ? "run" : "runs"} that ${workspace.shownDatabase} lacks`,
  );
  const scratch = join(workspace.scratch, "loading");
  await makeOwnFolder(scratch);
  const bring = bringerOf(workspace, join(scratch, "whole"), options.signal);
  const { database, loaded, failures } = await loadRuns(runs, base.path, scratch, options, bring);
  for (const failure of failures) log("warn", failure);
  return { previous: database, losses: failures, loaded };
}

/** The folder of a job in a bucket has the manifests of its runs alone: their rows are fetched one run at a time. */
function bringerOf({ remote }: Workspace, whole: string, signal = new AbortController().signal): BringRun {
  if (!remote) return async ({ folder }) => folder;
  return async ({ manifest }) => {
    await rm(whole, { recursive: true, force: true });
    await remote.fetchRun(manifest.run_id, whole, signal);
    return whole;
  };
}

function lossText(
  { shownDatabase }: Workspace,
  { reason }: Pick<Inspected & { state: "corrupt" }, "reason">,
  loaded: number,
) {
  return `${shownDatabase} could not be read (${reason}), so it is built anew from ${loaded} run ${loaded === 1 ? "folder" : "folders"}. Everything else is lost: readings of kbdump status, and the history of runs that were removed`;
}
