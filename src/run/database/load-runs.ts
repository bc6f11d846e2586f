import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { buildDatabase } from "../../database/build-database.js";
import type { DocumentChange, RunRow, RunRows } from "../../database/run-rows.js";
import type { DuckDbOptions } from "../../duckdb/open-duckdb.js";
import type { Manifest } from "../../dump/manifest/manifest.js";
import { readManifest } from "../../dump/manifest/read-manifest.js";
import { isRunId } from "../../dump/manifest/run-id.js";
import { Dump, UnsoundError } from "../../dump/open-dump.js";
import { StopError } from "../../errors.js";
import { isFullDisk, problemText } from "../../file-error.js";
import { allKinds, type Kind } from "../../rows/columns.js";

/** Finds the published runs after `newest` that asked for a database, oldest first. Skips folders without a sound manifest. */
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

/** The result of loading runs. */
export interface LoadedRuns {
  /** The database with them; `previous`, if none could be loaded. */
  readonly database: string | undefined;
  readonly loaded: number;
  /** A sentence for each run that could not be loaded. */
  readonly failures: readonly string[];
}

/** Gives the folder that has the rows of a run. */
export type BringRun = (run: Dump) => Promise<string>;

/**
 * Loads published runs into a copy of a database, or into a new one, one after the other, below the folder `scratch`. A run
 * is skipped if its files are missing, changed or unreadable. Rejects if the disk is full.
 */
export async function loadRuns(
  runs: readonly Dump[],
  previous: string | undefined,
  scratch: string,
  options: DuckDbOptions,
  bring: BringRun = async ({ folder }) => folder,
): Promise<LoadedRuns> {
  const failures: string[] = [];
  const datasets = new Map<string, string>();
  let database = previous;
  for (const run of runs) {
    const { manifest } = run;
    try {
      const target = join(scratch, `${manifest.run_id}.duckdb`);
      const rows = await rowsOf(dumpIn(await bring(run), manifest), datasets);
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

/** `datasets` maps the documents of earlier runs to their datasets: a manifest lists vanished documents by id alone. */
async function rowsOf(run: Dump, datasets: ReadonlyMap<string, string>): Promise<RunRows> {
  const { manifest } = run;
  const sources = new Map<Kind, string>();
  for (const kind of allKinds) {
    const [file] = run.tablesOf([kind]) ?? [];
    if (file) sources.set(kind, await run.select(await run.check(file), "JSON"));
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
