import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDbOptions } from "../duckdb/open-duckdb.js";
import { checkRows } from "../dump/load.js";
import type { Manifest } from "../dump/manifest.js";
import { Dump, UnsoundError } from "../dump/open-dump.js";
import { readManifest } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import { StopError, UsageError } from "../errors.js";
import { isFullDisk, problemText } from "../file-error.js";
import { makeOwnFolder } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { allKinds, type Kind } from "../rows/columns.js";
import type { Workspace } from "../store/lease.js";
import { buildDatabase } from "./build-database.js";
import { damagedBlocks, type Inspected, inspectWholly } from "./inspect-database.js";
import { currentDatabase, databaseOptions, foreignText, setPendingAside } from "./job-database.js";
import type { DocumentChange, RunRow, RunRows } from "./tables.js";

/** The database to add a run to. */
export interface PreparedDatabase {
  /** The database of earlier runs; undefined if nothing is known about them. */
  readonly previous: string | undefined;
  /** A sentence for each earlier run that the database lacks. */
  readonly losses: readonly string[];
  /** Whether the published database cannot be read and must be kept aside. */
  readonly isDamaged: boolean;
}

/**
 * Makes sure, before the crawl, that a run can be added to the job's database. If the database is unreadable or lacks published
 * runs, loads their folders into a database in our own folder. A broken database stays in place until this run is published, so
 * that a failing run does not hide the damage. Throws UsageError if the file is not a kbdump database.
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
    await setPendingAside(workspace, log); // what is left of it is in the published database and the run folders
    return prepareDatabase(workspace, job, log, signal);
  }
  const { previous, losses, loaded } = await loadMissing(workspace, job, nothing, options, log);
  const lost = found.state === "corrupt" ? [lossText(workspace, found, loaded)] : [];
  return { previous, losses: [...lost, ...losses], isDamaged };
}

/** Rebuilds the database when blocks of `previous` turn out to be damaged after all. */
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

/** The start of a database that is built only from run folders. */
const nothing: Base = { path: undefined, newest: null };

/** A database, and the id of the newest run in it. */
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
  const fetchRows = rowFetcher(workspace, join(scratch, "whole"), options.signal);
  const { database, loaded, failures } = await loadRuns(runs, base.path, scratch, options, fetchRows);
  for (const failure of failures) log("warn", failure);
  return { previous: database, losses: failures, loaded };
}

/**
 * Returns a function that gets the folder with the rows of a run. For a job in a bucket, it downloads one run at a time,
 * because the local folder has only manifests.
 */
function rowFetcher({ store }: Workspace, whole: string, signal = new AbortController().signal): FetchRows {
  return ({ manifest }) => store.fetchRun(manifest.run_id, whole, signal);
}

function lossText(
  { shownDatabase }: Workspace,
  { reason }: Pick<Inspected & { state: "corrupt" }, "reason">,
  loaded: number,
) {
  return `${shownDatabase} could not be read (${reason}), so it is rebuilt from ${loaded} run ${loaded === 1 ? "folder" : "folders"}. Everything else is lost: readings of kbdump status, and the history of runs that were removed`;
}

/** The published runs after `newest` that asked for a database, oldest first. Skips folders without a valid manifest. */
export async function runsAfter(newest: string | null, runs: string, job: string): Promise<readonly Dump[]> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && (newest === null || name > newest)).sort();
  const found: Dump[] = [];
  for (const name of names) {
    const manifest = (await readManifest(join(runs, name)).catch(() => undefined))?.manifest;
    const isOurs = manifest?.job === job && manifest.run_id === name;
    if (manifest && isOurs && manifest.options.output.formats.includes("duckdb"))
      found.push(dumpIn(join(runs, name), manifest));
  }
  return found;
}

function dumpIn(folder: string, manifest: Manifest): Dump {
  return new Dump(folder, manifest, "it was not loaded");
}

interface LoadedRuns {
  /** The new database, or `previous` if nothing could be loaded. */
  readonly database: string | undefined;
  readonly loaded: number;
  /** A sentence for each run that could not be loaded. */
  readonly failures: readonly string[];
}

/** Returns the folder with the rows of a run. */
type FetchRows = (run: Dump) => Promise<string>;

/**
 * Loads published runs one by one into a copy of a database, or into a new one, in the folder `scratch`. Skips a run if its files
 * are missing, changed or unreadable. Rejects if the disk is full.
 */
export async function loadRuns(
  runs: readonly Dump[],
  previous: string | undefined,
  scratch: string,
  options: DuckDbOptions,
  fetchRows: FetchRows = async ({ folder }) => folder,
): Promise<LoadedRuns> {
  const failures: string[] = [];
  const datasets = new Map<string, string>();
  let database = previous;
  for (const run of runs) {
    const { manifest } = run;
    try {
      const target = join(scratch, `${manifest.run_id}.duckdb`);
      const rows = await rowsOf(dumpIn(await fetchRows(run), manifest), datasets);
      await buildDatabase(rows, { ...options, previous: database, target, waiting: [] });
      if (database !== undefined && database !== previous) await rm(database);
      database = target;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFullDisk(error)) throw error;
      const reason = error instanceof UnsoundError ? error.problems.join("; ") : problemText(error);
      failures.push(`run ${manifest.run_id} could not be loaded: ${reason}`);
    }
    for (const { dataset_id, document_id } of manifest.documents) datasets.set(document_id, dataset_id);
  }
  return { database, loaded: runs.length - failures.length, failures };
}

/**
 * The rows of a published run, with the facts about it. `datasets` maps documents of earlier runs to their datasets, because a
 * manifest lists only the ids of vanished documents.
 */
async function rowsOf(run: Dump, datasets: ReadonlyMap<string, string>): Promise<RunRows> {
  const { manifest } = run;
  const sources = new Map<Kind, string>();
  for (const kind of allKinds) {
    const [file] = run.tablesOf([kind]) ?? [];
    if (file) sources.set(kind, (await checkRows(run, file, { json: "JSON" })).sql);
    else if ((manifest.counts[kind] ?? 0) > 0) throw new StopError(`no file of it has its ${kind}`);
  }
  return {
    select: (kind) => sources.get(kind),
    rows: (kind) => manifest.counts[kind] ?? 0,
    run: runRowOf(manifest),
    withoutChildren: manifest.options.child_chunks === "none",
    documentChanges: changesOf(manifest, datasets),
  };
}

function runRowOf(manifest: Manifest): RunRow {
  const { counts, requests } = manifest;
  return {
    run_id: manifest.run_id,
    status: manifest.status,
    started_at: manifest.started_at,
    finished_at: manifest.finished_at,
    base_url: manifest.service.base_url,
    tool_version: manifest.tool.version,
    documents: counts.documents,
    chunks: counts.chunks,
    child_chunks: counts.child_chunks,
    requests_sent: requests.sent,
    requests_retried: requests.retried,
    warnings: manifest.warnings,
  };
}

function changesOf(
  { discovered, documents }: Manifest,
  before: ReadonlyMap<string, string>,
): readonly DocumentChange[] | undefined {
  if (!discovered) return undefined;
  const now = new Map(documents.map(({ document_id, dataset_id }) => [document_id, dataset_id]));
  const named = (change: DocumentChange["change"], datasets: ReadonlyMap<string, string>) =>
    discovered[change].flatMap((id): DocumentChange[] => {
      const dataset = datasets.get(id);
      return dataset === undefined ? [] : [{ change, dataset_id: dataset, document_id: id }];
    });
  return [...named("new", now), ...named("vanished", before)];
}
