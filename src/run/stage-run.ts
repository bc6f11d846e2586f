import { createHash } from "node:crypto";
import { link, lstat, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { compareDiscovery, type Discovered, discoveredIds, earlierListings } from "../crawl/discovery.js";
import { countDocuments, documentListText } from "../crawl/document-list-file.js";
import type { RunRow } from "../database/tables.js";
import { type DuckDbOptions, memoryLack } from "../duckdb/open-duckdb.js";
import { partitionedKinds, type StagedFile, type StagedRows, type StagedTable } from "../dump/formats/format.js";
import { joinJsonl } from "../dump/formats/jsonl.js";
import { listName, type Manifest, type ManifestShard, manifestFormat, manifestName } from "../dump/manifest.js";
import { haveSameBytes } from "../files/byte-facts.js";
import { flush } from "../files/flush.js";
import type { SegmentFile } from "../files/join-segments.js";
import type { Job } from "../job/job.js";
import { resolvedOptions } from "../job/manifest-options.js";
import type { RunProgress } from "../job/run-progress.js";

import { listOriginals, stageOriginals } from "../originals/save-originals.js";
import { allKinds, type Kind } from "../rows/columns.js";
import type { Row } from "../rows/row.js";
import { DocumentSegments } from "../segments/document-on-disk.js";
import type { DumpedDocument } from "../segments/document-result.js";
import type { RequestSum } from "../segments/request-sum.js";
import { planHash } from "../segments/resume.js";
import { runIdsIn } from "../store/folder/job-folders.js";
import type { Workspace } from "../store/lease.js";
import { tool } from "../tool.js";
import { finishFormats, type Outputs, writtenFormats } from "./finish-formats.js";
import { countsOf, driftOf, type Reading, requireDocument, statusOf, warningsOf } from "./reading.js";
import { requestCounts, writeManifest } from "./write-manifest.js";

interface StageOptions {
  readonly job: Job;
  readonly baseUrl: string;
  readonly workspace: Workspace;
  readonly outputs: Outputs;
  readonly progress: RunProgress;
  /** DuckDB's memory limit and temporary folder. */
  readonly duckDb: DuckDbOptions;
  /** The requests sent to read the rows. */
  readonly requests: RequestSum;
  readonly signal: AbortSignal;
}

/** A run with all its files, not yet published. */
interface StagedRun {
  readonly manifest: Manifest;
  /** Sentences about the data that a damaged database loses; undefined if the database is not damaged. */
  readonly damage: readonly string[] | undefined;
}

/**
 * Makes the files of every format from the segments and writes the manifest, in a folder that readers do not see. Files equal to the
 * previous run's are hard-linked and use no extra space.
 */
export async function stageRun(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { workspace, signal } = options;
  const staged = await stageReading(reading, options);
  await shareUnchanged(staged.manifest, workspace, signal); // last, because a shared file must not be written to
  for (const folder of foldersIn(staged.manifest.files)) await flush(join(workspace.stage, folder));
  return staged;
}

/** The folders that files are in, relative to the run folder. Each comes before its parent; the run folder is last. */
function foldersIn(files: readonly StagedFile[]): readonly string[] {
  const folders = new Set(["."]);
  for (const { path } of files)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  const depthOf = (folder: string) => (folder === "." ? 0 : folder.split("/").length);
  return [...folders].sort((one, other) => depthOf(other) - depthOf(one));
}

/** Stages the reading. If DuckDB cannot load a document's rows, that document fails, and the files are made again without it. */
async function stageReading(reading: Reading, options: StageOptions): Promise<StagedRun> {
  const { runs, runId } = options.workspace;
  // Only for a whole run: a shard has only some documents of the list, so `kbdump join` compares them.
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
  const { workspace, outputs, progress, signal } = options;
  const runSegments = await writeRunSegments(reading, workspace, outputs);
  progress.step = "joining the parts";
  const staged = await joinRows(reading, runSegments, workspace, options.job, signal);
  if (reading.originals) await stageOriginals(reading.originals, workspace.stage);
  const withoutChildren = options.job.childChunks === "none";
  const facts = { run: runRowOf(reading, options), withoutChildren, documentChanges: discovered?.changes };
  const { files, damage } = await finishFormats({ ...staged, ...facts }, outputs, progress, signal);
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

/** The files of a run, and what its manifest says about them. */
interface Staged {
  readonly files: readonly StagedFile[];
  readonly discovered: Discovered | undefined;
  readonly shard: ManifestShard | undefined;
}

function manifestOf(reading: Reading, { files, discovered, shard }: Staged, options: StageOptions): Manifest {
  const { job, baseUrl, workspace, requests } = options;
  return {
    format: manifestFormat,
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

/** Writes the list of all documents into the folder of a staged shard, and returns the shard's manifest entry. */
async function stageList({ list }: Reading, job: Job, folder: string): Promise<ManifestShard | undefined> {
  if (!job.shard || !list) return undefined;
  const text = documentListText(list);
  const path = join(folder, listName);
  await writeFile(path, text, { mode: 0o600 });
  await flush(path);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const facts = { bytes: Buffer.byteLength(text), sha256 };
  return { ...job.shard, plan: planHash(job), list: { documents: countDocuments(list), ...facts } };
}

/** The name of the segments for rows that belong to no document. */
const runSegments = "run";
/** Rows to convert to text at once, which limits the memory. */
const rowsAtOnce = 1_000;

async function writeRunSegments(
  { documents, discovery, listed, rows }: Reading,
  workspace: Workspace,
  { formats }: Outputs,
): Promise<readonly SegmentFile[]> {
  const segments = new DocumentSegments(workspace.segments, runSegments, formats);
  const add = async (kind: Kind, rows: readonly Row[]) => {
    for (let first = 0; first < rows.length; first += rowsAtOnce) {
      segments.add(kind, rows.slice(first, first + rowsAtOnce));
      await segments.flush(); // the texts need as much memory as the rows
    }
  };
  await add(
    "documents",
    documents.map(({ row }) => row),
  );
  await add("indexing_status", rows.indexing_status);
  await add("metadata_fields", rows.metadata_fields);
  await add("document_info", listed ? [] : (discovery.found?.rows ?? []));
  await add("datasets", rows.datasets ?? []);
  await add("document_details", rows.document_details ?? []);
  await segments.close();
  return segments.files;
}

/** A table whose JSONL is not joined yet. */
type Table = Omit<StagedTable, "jsonl">;

/** Joins the JSONL, which the other formats need: in the run folder if the job asks for JSONL, otherwise in the scratch folder. */
async function joinRows(
  reading: Reading,
  runSegments: readonly SegmentFile[],
  workspace: Workspace,
  job: Job,
  signal: AbortSignal,
): Promise<StagedRows> {
  const counts = countsOf(reading);
  const { output } = job;
  const isWritten = writtenFormats(job).includes("jsonl");
  const [folder, compression] = isWritten ? [workspace.stage, output.compress] : [workspace.scratch, "none" as const];
  const segments = [...reading.documents.flatMap(({ files }) => files), ...(reading.listed ?? []), ...runSegments];
  const tables: StagedTable[] = [];
  for (const kind of allKinds.filter((kind) => counts[kind] !== undefined))
    for (const table of tablesOf(kind, counts[kind] ?? 0, reading, segments, output))
      tables.push({ ...table, jsonl: await joinJsonl(folder, table, { compression, signal }) });
  const rows: StagedRows["rows"] = (kind) => counts[kind] ?? 0;
  return { folder: workspace.stage, compression: output.compress, tables, rows };
}

/** The tables to write: one per kind, or one per kind and dataset. */
function tablesOf(
  kind: Kind,
  rows: number,
  { documents }: Pick<Reading, "documents">,
  segments: readonly SegmentFile[],
  { partition }: Job["output"],
): readonly Table[] {
  const isDivided = partition === "dataset" && partitionedKinds.includes(kind) && documents.length > 0;
  if (!isDivided) return [tableOf(kind, undefined, rows, segments)];
  const datasets = new Map<string, DumpedDocument[]>(documents.map(({ row }) => [row.dataset_id, []]));
  for (const document of documents) datasets.get(document.row.dataset_id)?.push(document);
  return [...datasets].map(([dataset, members]) => {
    const files = members.toSorted(byDocumentId).flatMap(({ files }) => files);
    return tableOf(kind, dataset, rowsOf(kind, members), files);
  });
}

function tableOf(kind: Kind, dataset: string | undefined, rows: number, files: readonly SegmentFile[]): Table {
  const ofKind = files.filter((file) => file.kind === kind);
  return { kind, dataset, rows, segments: (format) => ofKind.filter((file) => file.format === format) };
}

function rowsOf(kind: Kind, documents: readonly DumpedDocument[]): number {
  return documents.reduce((sum, { row }) => sum + (kind === "chunks" ? row.chunk_count : row.child_chunk_count), 0);
}

/** Sorts documents by id, so that a query for one document can skip row groups by their smallest and largest id. */
function byDocumentId({ row: one }: DumpedDocument, { row: other }: DumpedDocument): number {
  if (one.document_id === other.document_id) return 0;
  return one.document_id < other.document_id ? -1 : 1;
}

/**
 * Hard-links staged files to equal files of the previous run, to save disk space. Compares bytes instead of trusting that run's
 * manifest: the published file may have been damaged since, and a manifest with very many documents is slow to read. If linking
 * fails, the file stays a copy. The link is created under another name and renamed, so that a kill leaves a whole file.
 */
export async function shareUnchanged(
  { files }: Pick<Manifest, "files">,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<void> {
  const [before] = await runIdsIn(workspace.runs, workspace.runId).catch(() => []);
  if (before === undefined) return;
  for (const [index, { path }] of files.entries()) {
    const aside = join(workspace.scratch, `shared.${index}`);
    await shareFile(join(workspace.runs, before, path), join(workspace.stage, path), aside, signal).catch(() => {});
  }
}

/**
 * Replaces a staged file by a link if it equals the published one. Links first and compares the linked file, so that a change
 * to the published path cannot slip in between.
 */
async function shareFile(published: string, staged: string, aside: string, signal: AbortSignal): Promise<void> {
  await rm(aside, { force: true });
  await link(published, aside);
  try {
    const [shared, copy] = [await lstat(aside), await lstat(staged)];
    const isAlike =
      shared.isFile() && shared.size === copy.size && shared.mode === copy.mode && shared.uid === copy.uid;
    if (isAlike && (await haveSameBytes(aside, staged, signal))) await rename(aside, staged);
  } finally {
    await rm(aside, { force: true });
  }
}
