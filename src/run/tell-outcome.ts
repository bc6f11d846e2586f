import type { Manifest } from "../dump/manifest/manifest.js";
import { BusyError, InterruptedError, RetryError, SkipError, StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Job } from "../job/job.js";
import { Notifier } from "../notify/notifier.js";
import type { RunOutcome } from "../notify/run-outcome.js";
import type { DocumentRow } from "../rows/document-row.js";
import { countOf, nameAndId } from "../words.js";
import type { DocumentNames } from "./discover/discovery.js";
import { incompleteText } from "./documents/incomplete-text.js";
import type { RunOptions } from "./setting/run-options.js";
import type { Hold } from "./work/job-folders.js";
import { writeMetrics } from "./write-metrics.js";

type Setting = Required<RunOptions>;

/** A published run, as notifications and metrics report it. */
export interface Told {
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
