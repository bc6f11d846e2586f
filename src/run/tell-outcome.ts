import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DocumentNames } from "../crawl/discovery.js";
import type { Manifest } from "../dump/manifest.js";
import { BusyError, InterruptedError, RetryError, SkipError, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import { ifAbsent, isThere, readRegular, writeAside } from "../files/files.js";
import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import { Notifier } from "../notify/notifier.js";
import { metricsAfter, type RunOutcome, renderMetrics } from "../notify/run-metrics.js";
import type { DocumentRow } from "../rows/row.js";
import { incompleteText } from "../segments/document-result.js";
import { foldersOf, type Hold, type JobFolders, makeOwnFolder, refuseLinks } from "../store/folder/job-folders.js";
import { countOf, nameAndId } from "../words.js";

type Setting = Required<RunOptions>;

/** A published run, as notifications and metrics report it. */
interface Told {
  readonly manifest: Manifest;
  readonly status: Manifest["status"];
  readonly problems: readonly string[];
  readonly names: DocumentNames;
}

/** Functions with which a run reports its progress while it holds the job. */
export interface Telling {
  /** To be called when the run has its id. */
  readonly began: (runId: string, hold: Hold) => void;
  /** To be called at its end, while it still holds the job: its metrics are kept. */
  readonly ends: <Result extends Told>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Does a run and tells of it: its start and its end to the job's `notify`, and its end to the metrics. Nobody hears of a run
 * that never was, as another has the lock, and no URL of one that somebody ended with ^C. Whatever goes wrong with telling is
 * a warning, and the run ends as it would have.
 */
export async function tellOutcome<Result extends Told>(
  job: Job,
  setting: Setting,
  work: (telling: Telling) => Promise<Result>,
): Promise<Result> {
  const notifier = job.notify && new Notifier(job.notify, setting.env, (message) => setting.log("warn", message));
  const start = performance.now();
  let runId: string | null = null;
  let held: Hold | undefined;
  const outcomeOf = (end: End): RunOutcome => {
    const seconds = (performance.now() - start) / 1000;
    const known = { job: job.name, runId, finishedAt: setting.now(), seconds, requests: setting.tally.requests };
    return { ...known, rows: undefined, documents: undefined, failedDocuments: [], failedNames: [], ...end };
  };
  const measure = (end: End) =>
    writeMetrics(job, outcomeOf(end), held).catch((error: unknown) => {
      setting.log("warn", `the metrics could not be written: ${problemText(error)}`);
    });
  const telling: Telling = {
    began: (id, hold) => {
      [runId, held] = [id, hold];
      notifier?.start(job.name, id);
    },
    ends: (inner) =>
      after(
        inner,
        (result) => measure(publication(result)),
        (error) => measure(failure(error, setting.signal)),
      ),
  };
  const tell = async (end: End) => {
    const isKnown = end.status === "interrupted" && isKeyboard(setting.signal.reason);
    if (!isKnown) await notifier?.end(outcomeOf(end), setting.signal);
  };
  return after(
    () => work(telling),
    (result) => tell(publication(result)),
    async (error) => {
      if (error instanceof BusyError) return;
      if (!held) await measure(failure(error, setting.signal));
      await tell(failure(error, setting.signal));
    },
  );
}

/** Does something after some work, whether it succeeded or failed, and ends as the work did. */
async function after<T>(
  work: () => Promise<T>,
  succeeded: (result: T) => Promise<void>,
  failed: (error: unknown) => Promise<void>,
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await failed(error);
    throw error;
  }
  await succeeded(result);
  return result;
}

type End = Pick<RunOutcome, "status" | "message"> & Partial<RunOutcome>;

/** Ctrl-C at a terminal needs no notification: a person is there. */
function isKeyboard(reason: unknown): boolean {
  return reason instanceof InterruptedError && reason.exitCode === 130;
}

/** After a signal, whatever error came of it. */
function failure(error: unknown, { aborted, reason }: AbortSignal): Pick<RunOutcome, "status" | "message"> {
  if (aborted) return { status: "interrupted", message: sentence(reason) };
  return { status: "failed", message: sentence(error) };
}

/** The message of an error that is made for people; any other may hold content. */
function sentence(error: unknown): string {
  const kinds = [StopError, UsageError, InterruptedError, SkipError, RetryError];
  if (!(error instanceof Error) || !kinds.some((kind) => error instanceof kind)) return "it failed: its log says why";
  const text = error.message.replace(/\s+/g, " ");
  return text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text;
}

/** Ids of failed documents that are told at the most. */
const mostIds = 20;

function publication({ manifest, status, problems, names }: Told): End {
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
 * Replaces `metrics.prom` beside the runs of a job with what it is after this run, by a rename from the folder of the holder:
 * a run that was fenced does not write over the figures of its successor. A run that failed before it held the job, for want
 * of a key, say, uses a folder that the next holder fences, but makes none where there is nothing of the job yet. The file
 * that `output.metrics_file` names gets the same text.
 */
async function writeMetrics(job: Job, outcome: RunOutcome, hold?: Pick<Hold, "own">): Promise<void> {
  const folders = foldersOf(job);
  if (hold) return replaceMetrics(folders, hold.own, job, outcome);
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
    return; // another run took over, and tells of itself
  }
  const { metricsFile } = job.output;
  if (metricsFile !== undefined) await copyForAll(metricsFile, text);
}

/** A collector reads every *.prom of its folder at any moment, so the file is made under another name. */
async function copyForAll(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await writeAside(path, text, { aside, isFlushed: false, mode: 0o644 });
}
