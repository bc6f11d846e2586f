import { join } from "node:path";
import type { Download } from "../client/download/open-downloads.js";
import type { Client } from "../client/open-client.js";
import type { Manifest } from "../dump/manifest/manifest.js";
import { sayDiskError } from "../file-error.js";
import { joinWaiting, waitingFiles } from "../indexing/waiting-status.js";
import type { Job } from "../job/job.js";
import { pruneAfterRun } from "../keep/prune-job.js";
import type { Log } from "../log.js";
import { stripRuns } from "./bucket/tidy-work-folder.js";
import { databaseOptions } from "./database/job-database.js";
import type { PreparedDatabase } from "./database/prepare-database.js";
import { type DocumentNames, namesOf } from "./discover/discovery.js";
import { openOutputs } from "./open-outputs.js";
import { type Published, publishRun } from "./publish-run.js";
import { readEverything } from "./read-everything.js";
import { requireDocument } from "./reading.js";
import { type Reported, reportRun } from "./report-run.js";
import { type RunOptions, withDefaults } from "./setting/run-options.js";
import { withClient } from "./setting/with-client.js";
import { stageRun } from "./stage-run.js";
import { type Telling, tellOutcome } from "./tell-outcome.js";
import { type Kept, withWorkspace } from "./with-workspace.js";
import { shownPath } from "./work/remote.js";
import { withRequestSum } from "./work/request-sum.js";
import type { Workspace } from "./work/workspace.js";

/** A published run: its manifest and where it lies. */
export interface RunResult extends Published, Pick<Reported, "report"> {
  readonly manifest: Manifest;
  /**
   * `partial` where documents failed or moved while they were read, and where a step after the commit failed: `problems`
   * says which. The manifest knows of the documents only.
   */
  readonly status: "complete" | "partial";
  /** The names of documents by id, as far as the service told them. */
  readonly names: DocumentNames;
  /** Ids of the runs that `output.keep` let go of. */
  readonly pruned: readonly string[];
}

/**
 * The main job: reads everything that the job names, writes it in the formats asked for, and publishes it. Rejects with
 * StopError (nothing is published), UsageError (no key), BusyError, or the reason of `options.signal`. Tells of it as the
 * job's `notify` says, and keeps its metrics.
 */
export async function runJob(job: Job, options: RunOptions = {}): Promise<RunResult> {
  const setting = withDefaults(options);
  return tellOutcome(job, setting, (telling) => readAndPublish(job, setting, telling));
}

async function readAndPublish(job: Job, setting: Required<RunOptions>, { began, ends }: Telling): Promise<RunResult> {
  return withClient(job, setting, (client, baseUrl, download) =>
    withWorkspace(job, setting, keptBy(job), (workspace) => {
      began(workspace.runId, workspace);
      return ends(() => readWithin(workspace, job, setting, { client, baseUrl, download }));
    }),
  ).catch((error: unknown) => {
    throw sayDiskError(error, job.output.dir, setting.tally.step);
  });
}

/** A service, with what is needed to fetch files from it. */
interface ReachedClient {
  readonly client: Client;
  readonly baseUrl: string;
  readonly download: Download;
}

/** The course of a run that holds its job. */
async function readWithin(
  workspace: Workspace,
  job: Job,
  setting: Required<RunOptions>,
  { client, baseUrl, download }: ReachedClient,
): Promise<RunResult> {
  const { tally, log, now, retryFailed, onCommit } = setting;
  const signal = AbortSignal.any([setting.signal, workspace.lost]);
  signal.addEventListener("abort", () => client.stop(signal.reason), { once: true });
  const { previous, losses, ...found } = await prepared(workspace, job, log, signal);
  const waiting = await waitingFiles(workspace);
  const joined = await joinWaiting(waiting, join(workspace.scratch, "waiting.jsonl"));
  const outputs = await openOutputs({ job, workspace, previous, waiting: joined, log, signal });
  const { formats, newDatabase } = outputs;

  const { manifest, damage, names } = await withRequestSum(workspace.work, tally.requests, async (requests) => {
    const options = { job, workspace, formats, tally, now, log, retryFailed, baseUrl, download };
    const reading = await readEverything(client, options);
    requireDocument(reading);
    const duckDb = databaseOptions(job, workspace, signal);
    const staged = await stageRun(reading, { job, baseUrl, workspace, outputs, tally, duckDb, requests, signal });
    return { ...staged, names: namesOf(reading.discovery) };
  });
  signal.throwIfAborted();
  tally.step = "publishing";
  const isDamaged = found.isDamaged || damage !== undefined;
  const published = await publishRun({ job, manifest, newDatabase, isDamaged, waiting, onCommit, signal }, workspace);
  const { report, failures } = setting.report
    ? await reportRun(job, workspace, published, { tally, signal })
    : { report: undefined, failures: [] };
  const problems = [...losses, ...(damage ?? []), ...published.problems, ...failures];
  const status = problems.length > 0 ? "partial" : manifest.status;
  const pruned = await pruneAfterRun(job, workspace, setting);
  if (workspace.remote) await stripRuns(workspace).catch(() => {}); // the next run does it
  return { ...published, ...shownPaths(job, published), report, manifest, status, names, problems, pruned };
}

function shownPaths(job: Job, { folder, database }: Published): Pick<Published, "folder" | "database"> {
  return { folder: shownPath(job, folder), database: database && shownPath(job, database) };
}

/** Looks at the database before the crawl, which may take hours. */
async function prepared(workspace: Workspace, job: Job, log: Log, signal: AbortSignal): Promise<PreparedDatabase> {
  if (!job.output.formats.includes("duckdb")) return { previous: undefined, losses: [], isDamaged: false };
  const { prepareDatabase } = await import("./database/prepare-database.js"); // heavy; other formats do without
  const found = await prepareDatabase(workspace, job, log, signal);
  for (const sentence of found.losses) log("warn", sentence);
  return found;
}

/**
 * A partial run can be improved on: `retryFailed` reads what failed, and nothing else. A database that could not take its
 * place waits for the next run.
 */
function keptBy({ output }: Job): (result: RunResult) => Kept {
  return ({ manifest, database }) => {
    if (database === undefined && output.formats.includes("duckdb")) return "everything";
    return manifest.status === "partial" ? "what was read" : "nothing";
  };
}
