import { join } from "node:path";
import type { RunRow } from "../database/run-rows.js";
import type { DuckDbOptions } from "../duckdb/open-duckdb.js";
import { flush } from "../dump/files/flush.js";
import type { PartFile } from "../dump/files/join-parts.js";
import type { StagedFile, StagedRows } from "../dump/formats/format.js";
import { joinJsonl } from "../dump/formats/jsonl/write.js";
import { type Manifest, manifestName } from "../dump/manifest/manifest.js";
import type { Job } from "../job/job.js";
import type { Kind } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import { tool } from "../tool.js";
import { compareDiscovery, type Discovered, discoveredIds } from "./discover/discovered.js";
import { earlierListings } from "./discover/earlier-listings.js";
import { requestCounts, resolvedOptions, writeManifest } from "./manifest.js";
import type { Outputs } from "./open-outputs.js";
import { countsOf, driftOf, type Reading, requireDocument, statusOf, warningsOf } from "./reading.js";
import type { RunTally } from "./setting/run-tally.js";
import { shareUnchanged } from "./share-unchanged.js";
import { DocumentParts } from "./work/document-parts.js";
import type { RequestSum } from "./work/request-sum.js";
import type { Workspace } from "./work/workspace.js";

export interface StageOptions {
  readonly job: Job;
  readonly baseUrl: string;
  readonly workspace: Workspace;
  readonly outputs: Outputs;
  readonly tally: RunTally;
  /** DuckDB's memory limit and temporary folder. */
  readonly duckDb: DuckDbOptions;
  /** The requests of the run so far. */
  readonly requests: () => RequestSum;
  readonly signal: AbortSignal;
}

/** A run whose files are made, and not published. */
export interface StagedRun {
  readonly manifest: Manifest;
  /** Sentences on what is lost with a database that turned out to be damaged; undefined if it is sound. */
  readonly damage: readonly string[] | undefined;
}

/** The name of the parts that belong to no document. */
const runParts = "run";
/** Rows of these that are made into text at once. */
const rowsAtOnce = 1_000;

/**
 * Makes the files of every format from the parts and writes the manifest, all of it still aside from what readers see. Files
 * that are as in the run before take no second room.
 */
export async function stageRun(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { workspace, signal } = options;
  const staged = await stageReading(reading, options);
  await shareUnchanged(staged.manifest, workspace, signal); // last: nothing may write to a file that is shared
  await flush(workspace.stage);
  return staged;
}

/** If DuckDB cannot load the rows of a document, that document fails, and the files are made again without it. */
async function stageReading(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { runs, runId } = options.workspace;
  const discovered = await compareDiscovery(reading.discovery, earlierListings(runs, runId));
  for (let kept = reading; ; ) {
    try {
      return await stageFiles(kept, discovered, options);
    } catch (error) {
      options.signal.throwIfAborted();
      const { withoutRefused } = await import("./refused-documents.js");
      const others = await withoutRefused(kept, error, options.duckDb);
      if (!others) throw error;
      requireDocument(others);
      kept = others;
    }
  }
}

async function stageFiles(
  reading: Reading,
  discovered: Discovered | undefined,
  options: StageOptions,
): Promise<StagedRun> {
  const { workspace, outputs, tally, signal } = options;
  const { writers, writeDatabase } = outputs;
  const parts = [...reading.documents.flatMap(({ files }) => files), ...(await writeRunParts(reading, options))];
  tally.step = "joining the parts";
  const staged = await joinParts(reading, parts, options);
  const files: StagedFile[] = [];
  for (const writer of writers) {
    signal.throwIfAborted();
    tally.step = `writing ${writer.format}`;
    files.push(...(await writer.finish(staged)));
  }
  let damage: StagedRun["damage"];
  if (writeDatabase) {
    signal.throwIfAborted();
    tally.step = "writing duckdb";
    const withoutChildren = options.job.childChunks === "none";
    const facts = { run: runRowOf(reading, options), withoutChildren, documentChanges: discovered?.changes };
    damage = await writeDatabase({ ...staged, ...facts });
  }
  const manifest = manifestOf(reading, files, discovered, options);
  await writeManifest(join(workspace.stage, manifestName), manifest);
  return { manifest, damage };
}

async function writeRunParts(reading: Reading, { workspace, outputs }: StageOptions): Promise<readonly PartFile[]> {
  const parts = new DocumentParts(workspace.parts, runParts, outputs.formats);
  const add = async (kind: Kind, rows: readonly Row[]) => {
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      parts.add(kind, rows.slice(first, first + rowsAtOnce));
      await parts.flush(); // as text, they take as much memory again
    }
  };
  await add(
    "documents",
    reading.documents.map(({ row }) => row),
  );
  await add("indexing_status", [...reading.before.rows, ...reading.after.rows]);
  await add("metadata_fields", reading.fields.rows);
  await add("document_info", reading.discovery.found?.rows ?? []);
  await parts.close();
  return parts.files;
}

/** Joins the JSONL, in the run folder if it was asked for and else in the scratch folder; the other formats need it. */
async function joinParts(reading: Reading, files: readonly PartFile[], options: StageOptions): Promise<StagedRows> {
  const { job, workspace } = options;
  const counts = countsOf(reading);
  const parts: StagedRows["parts"] = (kind, format) =>
    files.filter((file) => file.kind === kind && file.format === format);
  const rows: StagedRows["rows"] = (kind) => counts[kind] ?? 0;
  const folder = job.output.formats.includes("jsonl") ? workspace.stage : workspace.scratch;
  const join = (kind: Kind) => joinJsonl(folder, kind, { parts, rows });
  const jsonl = {
    chunks: await join("chunks"),
    child_chunks: await join("child_chunks"),
    documents: await join("documents"),
    indexing_status: await join("indexing_status"),
    metadata_fields: await join("metadata_fields"),
    ...(counts.document_info === undefined ? {} : { document_info: await join("document_info") }),
  };
  return { folder: workspace.stage, parts, rows, jsonl };
}

function runRowOf(reading: Reading, { job, baseUrl, workspace, requests }: StageOptions): RunRow {
  const { documents, chunks, child_chunks } = countsOf(reading);
  return {
    run_id: workspace.runId,
    status: statusOf(reading),
    started_at: reading.startedAt.toISOString(),
    finished_at: reading.finishedAt.toISOString(),
    base_url: baseUrl,
    tool_version: tool.version,
    documents,
    chunks,
    child_chunks,
    requests_sent: requests().sent,
    requests_retried: requests().retried,
    warnings: warningsOf(reading, job),
  };
}

function manifestOf(
  reading: Reading,
  files: readonly StagedFile[],
  discovered: Discovered | undefined,
  options: StageOptions,
): Manifest {
  const { job, baseUrl, workspace } = options;
  const requests = options.requests();
  return {
    format: 1,
    tool,
    job: job.name,
    run_id: workspace.runId,
    status: statusOf(reading),
    started_at: reading.startedAt.toISOString(),
    finished_at: reading.finishedAt.toISOString(),
    service: { base_url: baseUrl },
    options: resolvedOptions(job),
    counts: countsOf(reading),
    requests: requestCounts(requests),
    retries: requests.retriedBy,
    documents: reading.documents.map(({ row }) => row),
    child_lists: reading.documents.flatMap(({ childLists }) => childLists ?? []),
    proofs: reading.documents.map(({ proof }) => proof),
    files,
    drift: driftOf(reading),
    warnings: warningsOf(reading, job),
    ...(discovered ? { discovered: discoveredIds(discovered) } : {}),
  };
}
