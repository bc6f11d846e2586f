import { BusyError, InterruptedError, RetryError, SkipError, StopError, UsageError } from "../errors.js";
import type { Job } from "../job/job.js";
import type { DocumentRow } from "../normalise/document-row.js";
import { Notifier } from "../notify/notifier.js";
import type { RunOutcome } from "../notify/run-outcome.js";
import type { Manifest } from "./manifest.js";
import type { RunOptions } from "./run-options.js";
import { writeMetrics } from "./write-metrics.js";

type Setting = Required<RunOptions>;

/**
 * Does a run and tells of it: its start (when `work` calls `began`) and its end to the job's `notify`, and its end to the
 * metrics. Nobody hears of a run that never was, as another has the lock, and no URL of one that somebody ended with ^C.
 * Whatever goes wrong with telling is a warning, and the run ends as it would have.
 */
export async function tellOutcome<Result extends { readonly manifest: Manifest }>(
  job: Job,
  setting: Setting,
  work: (began: (runId: string) => void) => Promise<Result>,
): Promise<Result> {
  const notifier = job.notify && new Notifier(job.notify, (message) => setting.log("warn", message));
  const start = performance.now();
  let runId: string | null = null;
  const tell = async (end: Pick<RunOutcome, "status" | "message"> & Partial<RunOutcome>) => {
    const seconds = (performance.now() - start) / 1000;
    const known = { job: job.name, runId, finishedAt: setting.now(), seconds, requests: setting.tally.requests };
    const outcome = { ...known, rows: undefined, documents: undefined, failedDocuments: [], ...end };
    await writeMetrics(job, outcome).catch((error: Error) => {
      setting.log("warn", `the metrics could not be written: ${error.message}`);
    });
    const isKnown = end.status === "interrupted" && isKeyboard(setting.signal.reason);
    if (!isKnown) await notifier?.end(outcome, setting.signal);
  };
  let result: Result;
  try {
    result = await work((id) => {
      runId = id;
      notifier?.start(job.name, id);
    });
  } catch (error) {
    if (!(error instanceof BusyError)) await tell(failure(error, setting.signal));
    throw error;
  }
  await tell(publication(result.manifest));
  return result;
}

/** Somebody sits there, and knows. */
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

function publication(manifest: Manifest): Pick<RunOutcome, "status" | "message"> & Partial<RunOutcome> {
  const { status, counts, documents: rows } = manifest;
  const documents: Record<DocumentRow["status"], number> = { complete: 0, unstable: 0, failed: 0 };
  for (const row of rows) documents[row.status]++;
  const failed = rows.filter((row) => row.status === "failed").map((row) => row.document_id);
  const { unstable } = documents;
  const message =
    status === "complete"
      ? `complete: ${counts.documents} documents, ${counts.chunks} chunks, ${counts.child_chunks} child chunks`
      : `partial: of ${counts.documents} documents ${failed.length} failed and ${unstable} moved while they were read; manifest.json says more`;
  return { status, message, rows: counts, documents, failedDocuments: failed.slice(0, mostIds) };
}
