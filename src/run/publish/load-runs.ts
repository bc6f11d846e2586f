import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { buildDatabase } from "../../database/build-database.js";
import type { DuckDbOptions } from "../../database/duckdb.js";
import { type RowFile, selectFromFile } from "../../database/select-file.js";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { isFullDisk, problemText } from "../../file-error.js";
import { allKinds, type Kind } from "../../rows/columns.js";
import { ByteFacts, LongestRow } from "../../sinks/byte-facts.js";
import type { DocumentChange, RunRow, RunRows, StagedFile } from "../../sinks/sink.js";
import { type CheckedManifest, partsOf } from "../../verify/check-manifest.js";
import { Findings } from "../../verify/findings.js";
import { readDump } from "../../verify/read-dump.js";
import { readPieces } from "../../verify/read-records.js";

/** A published run whose rows belong into the database of its job. */
export interface PublishedRun {
  readonly folder: string;
  readonly manifest: CheckedManifest;
}

/** JSONL is read the quickest; CSV that is guarded against formulas is not what the service sent. */
const preferred = ["jsonl", "parquet", "csv"] as const;

/** Finds the published runs after `newest` that asked for a database, oldest first. Skips folders without a sound manifest. */
export async function runsAfter(newest: string | null, runs: string, job: string): Promise<readonly PublishedRun[]> {
  const names = (await readdir(runs)).filter((name) => isRunId(name) && (newest === null || name > newest)).sort();
  const found: PublishedRun[] = [];
  for (const name of names) {
    const dump = await readDump(join(runs, name), new Findings()).catch(() => undefined);
    const manifest = dump?.manifest;
    const isOurs = manifest?.job === job && manifest.run_id === name;
    if (dump && manifest && isOurs && manifest.options.output.formats.includes("duckdb"))
      found.push({ folder: dump.folder, manifest });
  }
  return found;
}

/** The result of loading runs. */
export interface LoadedRuns {
  /** The database with them; `previous`, if none could be loaded. */
  readonly database: string | undefined;
  readonly loaded: number;
  /** A sentence for each run that could not be loaded. */
  readonly failures: readonly string[];
}

/**
 * Loads published runs into a copy of a database, or into a new one, one after the other, below the folder `scratch`. A run
 * is skipped if its files are missing, changed or unreadable. Rejects if the disk is full.
 */
export async function loadRuns(
  runs: readonly PublishedRun[],
  previous: string | undefined,
  scratch: string,
  options: DuckDbOptions,
): Promise<LoadedRuns> {
  const failures: string[] = [];
  const datasets = new Map<string, string>();
  let database = previous;
  for (const { folder, manifest } of runs) {
    try {
      const target = join(scratch, `${manifest.run_id}.duckdb`);
      const rows = await rowsOf(folder, manifest, datasets);
      await buildDatabase(rows, { ...options, previous: database, target, waiting: [] });
      if (database !== undefined && database !== previous) await rm(database);
      database = target;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFullDisk(error)) throw error;
      failures.push(`run ${manifest.run_id} could not be loaded: ${problemText(error)}`);
    }
    for (const { dataset_id, document_id } of manifest.documents) datasets.set(document_id, dataset_id);
  }
  return { database, loaded: runs.length - failures.length, failures };
}

/** `datasets` maps the documents of earlier runs to their datasets: a manifest lists vanished documents by id alone. */
async function rowsOf(
  folder: string,
  manifest: CheckedManifest,
  datasets: ReadonlyMap<string, string>,
): Promise<RunRows> {
  const sources = new Map<Kind, string>();
  for (const kind of allKinds) {
    const file = bestFile(manifest, kind);
    if (file) sources.set(kind, selectFromFile(kind, await checkedFile(folder, file), "JSON"));
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

function bestFile({ files, options }: CheckedManifest, kind: Kind): StagedFile | undefined {
  const usable = options.output.csv_safe ? preferred.filter((format) => format !== "csv") : preferred;
  const found = usable.map((format) =>
    files.find((file) => partsOf(file).kind === kind && partsOf(file).format === format),
  );
  return found.find((file) => file !== undefined);
}

/** A file whose bytes are those that were published; StopError otherwise. */
async function checkedFile(folder: string, file: StagedFile): Promise<RowFile> {
  const path = join(folder, file.path);
  const { format } = partsOf(file);
  if (!(await lstat(path)).isFile()) throw new StopError(`${file.path} is no regular file`);
  const [facts, longest] = [new ByteFacts(), new LongestRow(format === "csv")];
  for await (const piece of readPieces(path)) {
    facts.add(piece);
    if (format === "csv") longest.add(piece);
  }
  const { sha256, longestLine, longNumbers } = facts.facts;
  if (sha256 !== file.sha256) throw new StopError(`${file.path} is not the file that was published`);
  return { path, format, longestLine: format === "csv" ? longest.bytes : longestLine, longNumbers };
}

function runRowOf(manifest: CheckedManifest): RunRow {
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
  { discovered, documents }: CheckedManifest,
  before: ReadonlyMap<string, string>,
): readonly DocumentChange[] | undefined {
  if (typeof discovered !== "object" || discovered === null) return undefined;
  const now = new Map(documents.map(({ document_id, dataset_id }) => [document_id, dataset_id]));
  const named = (change: DocumentChange["change"], key: string, datasets: ReadonlyMap<string, string>) =>
    idsIn(discovered, key).flatMap((id): DocumentChange[] => {
      const dataset = datasets.get(id);
      return dataset === undefined ? [] : [{ change, dataset_id: dataset, document_id: id }];
    });
  return [...named("new", "new", now), ...named("vanished", "vanished", before)];
}

function idsIn(discovered: object, key: string): readonly string[] {
  const ids: unknown = Reflect.get(discovered, key);
  return Array.isArray(ids) ? ids.map(String) : [];
}
