import { dirname, join } from "node:path";
import type { RunRow } from "../database/run-rows.js";
import { type DuckDbOptions, memoryLack } from "../duckdb/open-duckdb.js";
import { flush } from "../dump/files/flush.js";
import type { StagedFile } from "../dump/formats/format.js";
import { type Manifest, manifestName } from "../dump/manifest/manifest.js";
import type { ManifestShard } from "../dump/manifest/shard.js";
import type { Job } from "../job/job.js";
import { listOriginals } from "../originals/save-originals.js";
import { stageOriginals } from "../originals/stage-originals.js";
import { tool } from "../tool.js";
import { compareDiscovery, type Discovered, discoveredIds } from "./discover/discovered.js";
import { earlierListings } from "./discover/earlier-listings.js";
import { finishFormats } from "./finish-formats.js";
import { requestCounts, resolvedOptions } from "./manifest.js";
import type { Outputs } from "./open-outputs.js";
import { countsOf, driftOf, type Reading, requireDocument, statusOf, warningsOf } from "./reading.js";
import type { RunTally } from "./setting/run-tally.js";
import { shareUnchanged } from "./share-unchanged.js";
import { stageList } from "./stage-list.js";
import { joinRows, writeRunParts } from "./stage-rows.js";
import type { RequestSum } from "./work/request-sum.js";
import type { Workspace } from "./work/workspace.js";
import { writeManifest } from "./write-manifest.js";

export interface StageOptions {
  readonly job: Job;
  readonly baseUrl: string;
  readonly workspace: Workspace;
  readonly outputs: Outputs;
  readonly tally: RunTally;
  /** DuckDB's memory limit and temporary folder. */
  readonly duckDb: DuckDbOptions;
  /** The requests that it took to read the rows. */
  readonly requests: RequestSum;
  readonly signal: AbortSignal;
}

/** A run whose files are made, and not published. */
export interface StagedRun {
  readonly manifest: Manifest;
  /** Sentences on what is lost with a database that turned out to be damaged; undefined if it is sound. */
  readonly damage: readonly string[] | undefined;
}

/**
 * Makes the files of every format from the parts and writes the manifest, all of it still aside from what readers see. Files
 * that are as in the run before take no second room.
 */
export async function stageRun(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { workspace, signal } = options;
  const staged = await stageReading(reading, options);
  await shareUnchanged(staged.manifest, workspace, signal); // last: nothing may write to a file that is shared
  for (const folder of foldersIn(staged.manifest.files)) await flush(join(workspace.stage, folder));
  return staged;
}

/** The folders of files, relative to the run folder: each before the one that it lies in, and the run folder last. */
function foldersIn(files: readonly StagedFile[]): readonly string[] {
  const folders = new Set(["."]);
  for (const { path } of files)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  const depthOf = (folder: string) => (folder === "." ? 0 : folder.split("/").length);
  return [...folders].sort((one, other) => depthOf(other) - depthOf(one));
}

/** If DuckDB cannot load the rows of a document, that document fails, and the files are made again without it. */
async function stageReading(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { runs, runId } = options.workspace;
  // A shard does not have all documents of a list: whoever joins the shards compares.
  const isWhole = options.job.shard === undefined;
  const discovered = isWhole ? await compareDiscovery(reading.discovery, earlierListings(runs, runId)) : undefined;
  for (let kept = reading; ; ) {
    try {
      return await stageFiles(kept, discovered, options);
    } catch (error) {
      options.signal.throwIfAborted();
      const { withoutRefused } = await import("./refused-documents.js");
      const others = await withoutRefused(kept, error, { ...options.duckDb, scratch: options.workspace.scratch });
      if (!others) throw memoryLack(error, options.duckDb.memory, "raise output.memory in the job file") ?? error;
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
  const runParts = await writeRunParts(reading, workspace, outputs);
  tally.step = "joining the parts";
  const staged = await joinRows(reading, runParts, workspace, options.job, signal);
  if (reading.originals) await stageOriginals(reading.originals, workspace.stage);
  const withoutChildren = options.job.childChunks === "none";
  const facts = { run: runRowOf(reading, options), withoutChildren, documentChanges: discovered?.changes };
  const { files, damage } = await finishFormats({ ...staged, ...facts }, outputs, tally, signal);
  const shard = await stageList(reading, options.job, workspace.stage);
  const manifest = manifestOf(reading, { files, discovered, shard }, options);
  await writeManifest(join(workspace.stage, manifestName), manifest);
  return { manifest, damage };
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
    requests_sent: requests.sent,
    requests_retried: requests.retried,
    warnings: warningsOf(reading, job),
  };
}

/** The staged files of a run, and what else its manifest says of them. */
interface Staged {
  readonly files: readonly StagedFile[];
  readonly discovered: Discovered | undefined;
  readonly shard: ManifestShard | undefined;
}

function manifestOf(reading: Reading, { files, discovered, shard }: Staged, options: StageOptions): Manifest {
  const { job, baseUrl, workspace, requests } = options;
  return {
    format: job.output.compress === "none" && job.output.partition === "none" ? 1 : 2,
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
    proofs: reading.documents.map(({ row: { dataset_id, document_id }, proof }) => ({
      dataset_id,
      document_id,
      proof,
    })),
    files,
    ...listOriginals(reading.originals),
    drift: driftOf(reading),
    warnings: warningsOf(reading, job),
    ...(discovered ? { discovered: discoveredIds(discovered) } : {}),
    ...(shard ? { shard } : {}),
    ...(reading.joined ? { joined: reading.joined } : {}),
  };
}
