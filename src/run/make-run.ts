import { join } from "node:path";
import { type DocumentNames, namesOf } from "../crawl/discovery.js";
import { databaseOptions } from "../database/job-database.js";
import type { PreparedDatabase } from "../database/prepare-database.js";
import { loadDuckDb } from "../duckdb/open-duckdb.js";
import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import type { Log } from "../log.js";
import type { RequestSum } from "../segments/request-sum.js";
import { joinWaiting, waitingFiles } from "../status/waiting-status.js";
import { shownPath } from "../store/folder/job-folders.js";
import type { Workspace } from "../store/lease.js";
import { type Outputs, openOutputs, writtenFormats } from "./finish-formats.js";
import { pruneAfterRun } from "./prune-job.js";
import { type Published, publishRun, type Reported, reportRun } from "./publish-run.js";
import { type Reading, requireDocument } from "./reading.js";
import { stageRun } from "./stage-run.js";

/** A published run: its manifest and its paths. */
export interface RunResult extends Published, Pick<Reported, "report"> {
  readonly manifest: Manifest;
  /**
   * The result: `partial` if something could not be read completely, or if a step after the commit failed (see `problems`). The
   * status in the manifest does not count those steps.
   */
  readonly status: "complete" | "partial";
  /** Document names by id, if the service reported them. */
  readonly names: DocumentNames;
  /** Ids of the runs removed by `output.keep`. */
  readonly pruned: readonly string[];
}

/** The rows of a run, their service, and the requests sent to read them. */
export interface Gathered {
  readonly reading: Reading;
  readonly baseUrl: string;
  readonly requests: RequestSum;
}

type MakeRunOptions = Pick<Required<RunOptions>, "progress" | "log" | "now" | "onCommit" | "report" | "signal">;

/** The writers of a run's formats and the database to update, prepared before the run reads. */
export interface PreparedRun {
  readonly outputs: Outputs;
  /** Aborted when the run is interrupted, another run takes over, or DuckDB cannot be loaded. */
  readonly signal: AbortSignal;
  /** The files with the status snapshots that this run adds to the database. */
  readonly waiting: readonly string[];
  /** Sentences about earlier runs that the database lacks. */
  readonly losses: readonly string[];
  /** Whether the published database cannot be read. */
  readonly isDamaged: boolean;
}

/** Opens the outputs of a run. Checks the database first, because reading may take hours. */
export async function prepareRun(workspace: Workspace, job: Job, context: MakeRunOptions): Promise<PreparedRun> {
  const { log } = context;
  const unloadable = new AbortController();
  const signal = AbortSignal.any([context.signal, workspace.lost, unloadable.signal]);
  const { previous, losses, isDamaged } = await prepareJobDatabase(workspace, job, log, signal);
  const waiting = await waitingFiles(workspace);
  const joined = await joinWaiting(waiting, join(workspace.scratch, "waiting.jsonl"));
  const outputs = await openOutputs({ job, workspace, previous, waiting: joined, log, signal });
  signal.throwIfAborted();
  // DuckDB is loaded while the first requests run. If that fails, the run ends now instead of after hours of reading.
  if (outputs.loaded > 0)
    setImmediate(() => {
      try {
        loadDuckDb();
      } catch (error) {
        unloadable.abort(error);
      }
    });
  return { outputs, signal, waiting, losses, isDamaged };
}

/** Writes the files of every format from the rows, and publishes them. */
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
  await workspace.store.tidy().catch(() => {}); // the next run tries again
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
  const { prepareDatabase } = await import("../database/prepare-database.js"); // slow to load; other formats do not need it
  const found = await prepareDatabase(workspace, job, log, signal);
  for (const sentence of found.losses) log("warn", sentence);
  return found;
}

/** Whether the run could not replace the job's database. Then the next run must. */
export function isDatabaseLeft({ database }: Pick<RunResult, "database">, job: Job): boolean {
  return database === undefined && writtenFormats(job).includes("duckdb");
}
