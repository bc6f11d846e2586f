import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DocumentNames } from "../crawl/discovery.js";
import type { Manifest } from "../dump/manifest.js";
import { BusyError, InterruptedError, RetryError, SkipError, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, makeOwnFolder, readRegular, writeAside } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import { Notifier } from "../notify/notifier.js";
import { metricsAfter, type RunOutcome, renderMetrics } from "../notify/run-metrics.js";
import type { DocumentRow } from "../rows/row.js";
import { incompleteText } from "../segments/document-result.js";
import { foldersOf, type JobFolders, refuseLinks } from "../store/folder/job-folders.js";
import type { LeasedJob } from "../store/lease.js";
import { countOf, nameAndId } from "../words.js";

type Context = Required<RunOptions>;

/** A published run, for notifications and metrics. */
interface PublishedRun {
  readonly manifest: Manifest;
  readonly status: Manifest["status"];
  readonly problems: readonly string[];
  readonly names: DocumentNames;
}

/**
 * Reports the start and end of a run to the job's `notify`, and its end to the metrics. Reports nothing if the run never started
 * because another has the lease, and notifies nothing after ^C. A failure here is only a warning, and does not change the result of
 * the run.
 */
export class OutcomeReport {
  readonly #job: Job;
  readonly #context: Context;
  readonly #notifier: Notifier | undefined;
  readonly #start = performance.now();
  #runId: string | null = null;
  #lease: LeasedJob | undefined;

  constructor(job: Job, context: Context) {
    this.#job = job;
    this.#context = context;
    this.#notifier = job.notify && new Notifier(job.notify, context.env, (message) => context.log("warn", message));
  }

  /** Notifies the job's URLs of the start. Call it when the run has its lease and id. */
  began(workspace: LeasedJob & { readonly runId: string }): void {
    this.#runId = workspace.runId;
    this.#lease = workspace;
    this.#notifier?.start(this.#job.name, workspace.runId);
  }

  /** Writes the metrics of a published run. Call it while the run has its lease. */
  async published(run: PublishedRun): Promise<void> {
    await this.#measure(publication(run));
  }

  /** Writes the metrics of a failed run. Call it while the run has its lease. */
  async broke(error: unknown): Promise<void> {
    await this.#measure(failure(error, this.#context.signal));
  }

  /** Sends the notification of a successful end. */
  async succeeded(run: PublishedRun): Promise<void> {
    await this.#notify(publication(run));
  }

  /** Sends the notification of a failure, and writes metrics if the run failed before it had its lease. */
  async failed(error: unknown): Promise<void> {
    if (error instanceof BusyError) return;
    if (!this.#lease) await this.broke(error);
    await this.#notify(failure(error, this.#context.signal));
  }

  async #measure(end: End): Promise<void> {
    await writeMetrics(this.#job, this.#outcomeOf(end), this.#lease).catch((error: unknown) => {
      this.#context.log("warn", `the metrics could not be written: ${problemText(error)}`);
    });
  }

  async #notify(end: End): Promise<void> {
    const { signal } = this.#context;
    if (end.status === "interrupted" && isKeyboard(signal.reason)) return;
    await this.#notifier?.end(this.#outcomeOf(end), signal);
  }

  #outcomeOf(end: End): RunOutcome {
    const { now, progress } = this.#context;
    const seconds = (performance.now() - this.#start) / 1000;
    const known = { job: this.#job.name, runId: this.#runId, finishedAt: now(), seconds, requests: progress.requests };
    return { ...known, rows: undefined, documents: undefined, failedDocuments: [], failedNames: [], ...end };
  }
}

type End = Pick<RunOutcome, "status" | "message"> & Partial<RunOutcome>;

/** Whether the user pressed ^C. Then no notification is needed, because the user knows. */
function isKeyboard(reason: unknown): boolean {
  return reason instanceof InterruptedError && reason.exitCode === 130;
}

/** The status and message of a run that failed. After a signal, it counts as interrupted, even if another error followed. */
function failure(error: unknown, { aborted, reason }: AbortSignal): Pick<RunOutcome, "status" | "message"> {
  if (aborted) return { status: "interrupted", message: sentence(reason) };
  return { status: "failed", message: sentence(error) };
}

/** The message to send for an error. Quotes only errors that were written for users, because others may contain content. */
function sentence(error: unknown): string {
  const kinds = [StopError, UsageError, InterruptedError, SkipError, RetryError];
  if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) return "it failed: its log says why";
  const text = error.message.replace(/\s+/g, " ");
  return text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text;
}

/** Maximum number of failed documents to list by id. */
const mostIds = 20;

function publication({ manifest, status, problems, names }: PublishedRun): End {
  const { counts, documents: rows } = manifest;
  const documents: Record<DocumentRow["status"], number> = { complete: 0, unstable: 0, failed: 0 };
  for (const row of rows) documents[row.status]++;
  const failed = rows.filter((row) => row.status === "failed").map((row) => row.document_id);
  const read =
    manifest.status === "complete"
      ? `complete: ${[countOf(counts.documents, "document"), countOf(counts.chunks, "chunk"), countOf(counts.child_chunks, "child chunk")].join(", ")}`
      : `partial: ${incompleteText(rows)}`;
  const message = [read, ...problems].join(". ");
  const failedDocuments = failed.slice(0, mostIds);
  const failedNames = failedDocuments.map((id) => nameAndId(names.get(id), id));
  return { status, message, rows: counts, documents, failedDocuments, failedNames };
}

/**
 * Replaces the job's `metrics.prom` with the state after this run. Renames it from the owner's folder, which a successor
 * removes, so that this run cannot overwrite its successor's metrics. A run that failed before it had the lease, for example
 * without a key, uses a folder that the next owner removes, but creates none if the job has no folder yet. The file in
 * `output.metrics_file` gets the same text.
 */
async function writeMetrics(job: Job, outcome: RunOutcome, leased?: Pick<LeasedJob, "own">): Promise<void> {
  const folders = foldersOf(job);
  if (leased) return replaceMetrics(folders, leased.own, job, outcome);
  await refuseLinks(folders);
  if (!(await isThere(folders.private))) return;
  const own = join(folders.private, `metrics.${randomUUID()}`);
  await makeOwnFolder(own);
  try {
    await replaceMetrics(folders, own, job, outcome);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function replaceMetrics({ folder }: JobFolders, own: string, job: Job, outcome: RunOutcome): Promise<void> {
  const path = join(folder, "metrics.prom");
  const before = (await readRegular(path).catch(ifAbsent(Buffer.alloc(0)))).toString("utf8");
  const text = renderMetrics(metricsAfter(outcome, before));
  try {
    await writeAside(path, text, { aside: join(own, "metrics.prom"), isFlushed: false });
  } catch (error) {
    if (await isThere(own)) throw error;
    return; // another run took over and reports itself
  }
  const { metricsFile } = job.output;
  if (metricsFile !== undefined) await copyForAll(metricsFile, text);
}

/**
 * Writes a file that others can read. Writes under another name first, because a collector may read every *.prom file of the
 * folder at any time.
 */
async function copyForAll(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await writeAside(path, text, { aside, isFlushed: false, mode: 0o644 });
}
