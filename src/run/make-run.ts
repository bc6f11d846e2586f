import { join } from "node:path";
import { type DocumentNames, namesOf } from "../crawl/discovery.js";
import { databaseOptions } from "../database/job-database.js";
import type { PreparedDatabase } from "../database/prepare-database.js";
import { loadDuckDb } from "../duckdb/open-duckdb.js";
import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import { pruneAfterRun } from "../keep/prune-job.js";
import type { Log } from "../log.js";
import { joinWaiting, waitingFiles } from "../status/waiting-status.js";
import { shownPath } from "../store/folder/job-folders.js";
import { stripRuns } from "../store/remote.js";
import type { RequestSum } from "../store/request-sum.js";
import type { Workspace } from "../store/workspace.js";
import { type Outputs, openOutputs, writtenFormats } from "./finish-formats.js";
import { type Published, publishRun, type Reported, reportRun } from "./publish-run.js";
import { type Reading, requireDocument } from "./reading.js";
import { stageRun } from "./stage-run.js";

/** A published run: its manifest and where it lies. */
export interface RunResult extends Published, Pick<Reported, "report"> {
  readonly manifest: Manifest;
  /**
   * `partial` where documents failed or moved while they were read, and where a step after the commit failed: `problems`
   * says which. The manifest knows of the documents only.
   */
  readonly status: "complete" | "partial";
  /** The names of documents by id, as far as the service reported them. */
  readonly names: DocumentNames;
  /** Ids of the runs that `output.keep` let go of. */
  readonly pruned: readonly string[];
}

/** The rows of a run, the service that they are of, and the requests that it took to read them. */
export interface Gathered {
  readonly reading: Reading;
  readonly baseUrl: string;
  readonly requests: RequestSum;
}

type MakeRunOptions = Pick<Required<RunOptions>, "progress" | "log" | "now" | "onCommit" | "report" | "signal">;

/** What a run has before it reads: the writers of its formats, and the database that it adds to. */
export interface PreparedRun {
  readonly outputs: Outputs;
  /** Ends the run: it was interrupted, another took over, or DuckDB cannot be loaded. */
  readonly signal: AbortSignal;
  /** Files of readings of the indexing status that wait for this run. */
  readonly waiting: readonly string[];
  /** Sentences that say what of earlier runs is not in the database. */
  readonly losses: readonly string[];
  /** The published database cannot be read. */
  readonly isDamaged: boolean;
}

/** Opens the outputs of a run. Looks at the database before anything else, as reading may take hours. */
export async function prepareRun(workspace: Workspace, job: Job, context: MakeRunOptions): Promise<PreparedRun> {
  const { log } = context;
  const unloadable = new AbortController();
  const signal = AbortSignal.any([context.signal, workspace.lost, unloadable.signal]);
  const { previous, losses, isDamaged } = await prepareJobDatabase(workspace, job, log, signal);
  const waiting = await waitingFiles(workspace);
  const joined = await joinWaiting(waiting, join(workspace.scratch, "waiting.jsonl"));
  const outputs = await openOutputs({ job, workspace, previous, waiting: joined, log, signal });
  signal.throwIfAborted();
  // While the first answers are on their way. Where it cannot be loaded, the run ends before it reads for hours.
  if (outputs.loaded > 0) setImmediate(() => loadDuckDb().catch((error: unknown) => unloadable.abort(error)));
  return { outputs, signal, waiting, losses, isDamaged };
}

/** Makes the files of every format from the rows that were gathered, and publishes them. */
export async function finishRun(
  workspace: Workspace,
  job: Job,
  context: MakeRunOptions,
  prepared: PreparedRun,
  { reading, baseUrl, requests }: Gathered,
): Promise<RunResult> {
  const { progress, onCommit } = context;
  const { outputs, signal, waiting } = prepared;
  requireDocument(reading);
  const duckDb = databaseOptions(job, workspace, signal);
  const staging = { job, baseUrl, workspace, outputs, progress, duckDb, requests, signal };
  const { manifest, damage } = await stageRun(reading, staging);
  signal.throwIfAborted();
  progress.step = "publishing";
  const { newDatabase } = outputs;
  const isDamaged = prepared.isDamaged || damage !== undefined;
  const published = await publishRun({ job, manifest, newDatabase, isDamaged, waiting, onCommit, signal }, workspace);
  const { report, failures } = context.report
    ? await reportRun(job, workspace, published, { progress, signal })
    : { report: undefined, failures: [] };
  const problems = [...prepared.losses, ...(damage ?? []), ...published.problems, ...failures];
  const status = problems.length > 0 ? "partial" : manifest.status;
  const pruned = await pruneAfterRun(job, workspace, context);
  if (workspace.remote) await stripRuns(workspace).catch(() => {}); // the next run does it
  return {
    ...published,
    ...shownPaths(job, published),
    report,
    manifest,
    status,
    names: namesOf(reading.discovery),
    problems,
    pruned,
  };
}

function shownPaths(job: Job, { folder, database }: Published): Pick<Published, "folder" | "database"> {
  return { folder: shownPath(job, folder), database: database && shownPath(job, database) };
}

async function prepareJobDatabase(
  workspace: Workspace,
  job: Job,
  log: Log,
  signal: AbortSignal,
): Promise<PreparedDatabase> {
  if (!writtenFormats(job).includes("duckdb")) return { previous: undefined, losses: [], isDamaged: false };
  const { prepareDatabase } = await import("../database/prepare-database.js"); // heavy; other formats do without
  const found = await prepareDatabase(workspace, job, log, signal);
  for (const sentence of found.losses) log("warn", sentence);
  return found;
}

/** Whether a run could not put the database that its job asks for in its place: it waits for the next run. */
export function isDatabaseLeft({ database }: Pick<RunResult, "database">, job: Job): boolean {
  return database === undefined && writtenFormats(job).includes("duckdb");
}
