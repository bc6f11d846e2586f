import { join } from "node:path";
import { databaseOptions, replaceDatabase } from "../database/job-database.js";
import type { Manifest } from "../dump/manifest.js";
import { LostError } from "../errors.js";
import { problemText } from "../file-error.js";
import { flush } from "../files/flush.js";
import type { Job } from "../job/job.js";
import type { CommitState } from "../job/open-service.js";
import type { RunProgress } from "../job/run-progress.js";
import { emptyReadProgress } from "../read-progress.js";
import { reportName } from "../report/report-path.js";
import { shellText } from "../shell-text.js";
import { removeWaiting } from "../status/waiting-status.js";
import { newestComplete, shownPath } from "../store/folder/job-folders.js";
import { lossBehind, type Workspace } from "../store/lease.js";

/** The paths of a published run. */
export interface Published {
  readonly folder: string;
  /** The path of the job's database; undefined if the job has none, or if it could not be replaced. */
  readonly database: string | undefined;
  /** A sentence for each step that failed after the commit. The next run repeats the step. */
  readonly problems: readonly string[];
}

/** A staged run, and everything that is published with it. */
interface ToPublish {
  readonly job: Job;
  readonly manifest: Manifest;
  /** The path of the new database; undefined if the job has none. */
  readonly newDatabase: string | undefined;
  /** Whether the published database is known to be damaged. It is kept under another name. */
  readonly isDamaged: boolean;
  /** The status snapshots that the new database contains. */
  readonly waiting: readonly string[];
  readonly onCommit: (state: CommitState) => void;
  /** Aborting it cancels an upload. A committed run stays. */
  readonly signal: AbortSignal;
}

/**
 * Publishes a staged run: first its folder, which is the commit, then the database, then `latest` if the run is complete. The
 * stage is flushed to disk first. Each step is one rename, so readers see all of it or nothing. Every rename starts in our own
 * folder, which a successor removes, so it fails once another run has taken over. In a bucket, the commit is one change of
 * `head.json`, and the database one conditional write; the local folder is updated after each. Rejects only if nothing was
 * published.
 */
export async function publishRun(
  { job, manifest, newDatabase, isDamaged, waiting, onCommit, signal }: ToPublish,
  workspace: Workspace,
): Promise<Published> {
  const { store, stage } = workspace;
  await store.upload(manifest, stage, signal);
  onCommit("begun");
  await store.commit(manifest, stage).catch((error: unknown) => {
    onCommit("failed");
    throw error;
  });
  onCommit("done");
  const failures: Failure[] = [];
  const attempt = async (step: () => Promise<unknown>, sayFailed: (reason: string) => string): Promise<boolean> =>
    step().then(
      () => true,
      (error: unknown) => {
        failures.push({ error, sayFailed });
        return false;
      },
    );
  await attempt(
    () => store.follow(manifest, stage),
    (reason) => `${workspace.runs} could not take the run (${reason}); the next run does it`,
  );
  const flushed = (folder: string) =>
    attempt(
      () => flush(folder),
      (reason) =>
        `${folder} could not be flushed to the disk (${reason}): a power cut may undo the run, latest and the database`,
    );
  await flushed(workspace.runs); // before anything points to the folder
  let aside: string | undefined;
  const isReplaced =
    newDatabase !== undefined &&
    (await attempt(
      async () => {
        aside = await replaceDatabase(newDatabase, workspace, databaseOptions(job, workspace), isDamaged);
      },
      (reason) => `${workspace.shownDatabase} could not be replaced (${reason}); the next run does it`,
    ));
  if (isReplaced) await removeWaiting(waiting, workspace);
  if (manifest.status === "complete")
    await attempt(
      () => store.pointLatest(workspace.runId),
      (reason) => `latest could not be moved to this run (${reason}); the next run does it`,
    );
  await flushed(workspace.folder);
  const [first] = failures;
  const loss = first && ((await lossBehind(first.error, workspace)) ?? lossAmong(failures));
  return {
    folder: join(workspace.runs, workspace.runId),
    database: isReplaced ? workspace.database : undefined,
    problems: [
      ...(aside === undefined ? [] : [`the database that could not be read is kept as ${aside}`]),
      ...sentencesOf(failures, loss),
    ],
  };
}

/** A failed step after the commit. */
interface Failure {
  readonly error: unknown;
  readonly sayFailed: (reason: string) => string;
}

/** The LostError among the failures, if another run took over. */
function lossAmong(failures: readonly Failure[]): LostError | undefined {
  return failures.map(({ error }) => error).find((error) => error instanceof LostError);
}

/** A sentence for each failure; only one for all if another run took over, because that run does the remaining steps. */
function sentencesOf(failures: readonly Failure[], loss: LostError | undefined): readonly string[] {
  if (loss) return [`${loss.message}. It brings latest and the database up to date`];
  return failures.map(({ error, sayFailed }) => sayFailed(problemText(error)));
}

export interface Reported {
  /** The path of the report; undefined if no report was requested or it could not be written. */
  readonly report: string | undefined;
  /** Why the report could not be written; empty if it was written or not requested. */
  readonly failures: readonly string[];
}

/**
 * Writes the report of a published run next to the runs of its job, compared with the previous complete run. The file is
 * renamed from our own folder, which a successor removes, so we cannot replace its report. Never rejects, because the run is
 * already published.
 */
export async function reportRun(
  job: Job,
  workspace: Workspace,
  { folder }: Pick<Published, "folder">,
  { progress, signal }: { readonly progress: RunProgress; readonly signal: AbortSignal },
): Promise<Reported> {
  const { store, scratch } = workspace;
  progress.step = "writing the report";
  const path = join(workspace.folder, reportName);
  try {
    const { writeReport } = await import("../report/render-report.js"); // slow to load; most runs do not need it
    const before = await newestComplete(workspace, { job: job.name, before: workspace.runId });
    const against = before && (await store.fetchRun(before, join(scratch, before), signal));
    const request = { folder, against, memory: job.output.memory, signal, progress: emptyReadProgress() };
    await writeReport(path, request, join(scratch, reportName));
    await store.publishReport(path);
    return { report: shownPath(job, path), failures: [] };
  } catch (error) {
    const reason = problemText((await lossBehind(error, workspace)) ?? error);
    const command = `kbdump report ${shellText(shownPath(job, folder))} -o ${shellText(workspace.remote ? reportName : path)}`;
    return { report: undefined, failures: [`the report could not be written (${reason}); ${command} writes it`] };
  }
}
