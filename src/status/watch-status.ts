import { setTimeout as delay } from "node:timers/promises";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { runIdFrom } from "../dump/run-id.js";
import { GaveUpError, type SkipError, StopError } from "../errors.js";
import { sayDiskError } from "../file-error.js";
import { type Job, namedDatasets } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import type { Log } from "../log.js";
import { jsonText } from "../rows/exact-json.js";
import { DriftCount, type RowOptions } from "../rows/row-from-record.js";
import { foldersOf, type JobFolders, refuseLinks } from "../store/folder/job-folders.js";
import { countOf } from "../words.js";
import { type BatchReading, type BatchRef, batchesOf, failureText, readBatches } from "./capture-status.js";
import type { WatchedStatus } from "./status-result.js";
import { addWaiting, leaveWaiting } from "./waiting-status.js";
import {
  advance,
  ageOf,
  countsOf,
  emptyWatchProgress,
  isOver,
  isStuck,
  stillFor,
  stuckAfter,
  type WatchedDocument,
  type WatchedDocuments,
  type WatchOptions,
  type WatchProgress,
} from "./watched-documents.js";

/** Maximum retries of a request. Few, because another poll follows anyway. */
const mostRetries = 2;

/**
 * Polls the batches of a job until every document is completed or in error, or the timeout expires. Stores every changed status at
 * once, so that a killed watch loses nothing; the database gets them at the end. A failed poll does not end the watch. Throws
 * StopError if a batch is unknown or the key is refused, UsageError without a key, or the reason of `options.signal`.
 */
export async function watchStatus(job: Job, options: WatchOptions): Promise<WatchedStatus> {
  const { interval, timeout, progress = emptyWatchProgress(), onPoll = () => {}, sleep = sleepFor, ...rest } = options;
  const context = withDefaults(rest);
  const { now, log } = context;
  const startedAt = now().getTime();
  const folders = foldersOf(job);
  await refuseLinks(folders);
  const drift = new DriftCount();
  const poll = new Poll(batchesOf(namedDatasets(job)), { now, log, onPoll, folders, progress, drift: drift.add });
  const deadline = deadlineAfter(timeout, sleep);
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  const inTime = await pollToTheEnd(poll, job, { ...context, signal }, () => sleep(interval, signal))
    .catch((error: unknown) => {
      if (deadline.signal.aborted && error === deadline.signal.reason) return false;
      throw sayDiskError(error, job.output.dir, "watching");
    })
    .finally(deadline.cancel);
  const seconds = (now().getTime() - startedAt) / 1000;
  const added = await addReadings(job, context);
  const { polls, readings } = progress;
  const rows = [...progress.documents.values()].map(({ row }) => row);
  const place = { database: folders.shownDatabase, added };
  return { status: statusOf(progress, inTime), seconds, polls, readings, rows, drift: drift.drift, ...place };
}

/**
 * Adds the stored readings to the database. Reports an unreadable database as a warning, because it must not hide how the
 * watch ended.
 */
async function addReadings(job: Job, context: Required<RunOptions>): Promise<boolean> {
  return addWaiting(job, context).catch((error: unknown) => {
    if (!(error instanceof StopError)) throw error;
    context.log("warn", error.message);
    return false;
  });
}

function statusOf({ documents }: WatchProgress, inTime: boolean): WatchedStatus["status"] {
  if (!inTime) return "timeout";
  return [...documents.values()].every(({ state }) => state === "completed") ? "completed" : "error";
}

/**
 * Polls until there is nothing left to wait for. Waits for a service that is down, and does not report the retries of single
 * requests.
 */
async function pollToTheEnd(
  poll: Poll,
  job: Job,
  context: Required<RunOptions>,
  pause: () => Promise<unknown>,
): Promise<true> {
  const patient = { ...job, service: { ...job.service, retries: Math.min(job.service.retries, mostRetries) } };
  await using service = await openService(patient, { ...context, log: () => {} }, { patient: true });
  while (!(await poll.next(service.client))) await pause().catch(() => context.signal.throwIfAborted());
  return true;
}

/** A signal that aborts after these milliseconds with its own reason, unless cancelled. */
function deadlineAfter(milliseconds: number | undefined, sleep: Required<WatchOptions>["sleep"]) {
  const over = new AbortController();
  const cancelled = new AbortController();
  if (milliseconds !== undefined) {
    const end = () => over.abort(new Error("the time is over"));
    sleep(milliseconds, cancelled.signal).then(end, () => {});
  }
  return { signal: over.signal, cancel: () => cancelled.abort() };
}

function sleepFor(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return delay(milliseconds, undefined, { signal });
}

interface PollOptions extends Pick<WatchOptions, "onPoll"> {
  readonly now: () => Date;
  readonly log: Log;
  readonly folders: JobFolders;
  readonly progress: WatchProgress;
  readonly drift: RowOptions["drift"];
}

/** Maximum documents to warn about after one poll. */
const mostWarnings = 10;

/** The polls of one watch: reads every batch, stores changes, and warns. */
class Poll {
  readonly #batches: readonly BatchRef[];
  readonly #options: PollOptions;
  readonly #read = new Set<BatchRef>();
  readonly #reported = new Set<string>();
  #outage: Outage | undefined;

  constructor(batches: readonly BatchRef[], options: PollOptions) {
    this.#batches = batches;
    this.#options = options;
  }

  /** Reads every batch once. Returns true when there is nothing left to wait for. Throws StopError if no batch can be read. */
  async next(api: Pick<KnowledgeApi, "indexingStatus">): Promise<boolean> {
    const { now, folders, progress, drift, onPoll } = this.#options;
    const readings = await readBatches(api, this.#batches, now, drift);
    const at = now().getTime();
    const { documents, changed } = advance(progress.documents, readings, at);
    const rows = changed.map(({ row }) => row);
    await leaveWaiting(folders, runIdFrom(now()), rows);
    progress.documents = documents;
    progress.polls++;
    progress.readings += rows.length;
    if (readings.every(({ error }) => !error)) progress.readAt = at;
    this.#refuse(readings);
    this.#reportOutage(readings, at);
    this.#warn(at);
    onPoll?.(changed);
    return this.#read.size === this.#batches.length && [...documents.values()].every(isOver);
  }

  /** Records which batches could be read. Throws StopError if one of them is not worth waiting for. */
  #refuse(readings: readonly BatchReading[]): void {
    const service = this.#read.size > 0 || readings.some(({ error }) => !error);
    readings.forEach((reading, index) => {
      const ref = this.#batches[index] ?? reading;
      const { batch, error } = reading;
      if (error && endsWatch(error, { service, batch: this.#read.has(ref) })) {
        const hint =
          error.code === "not_found"
            ? "; the service names the batch in its answer to creating or updating a document"
            : "";
        throw new StopError(`${failureText(reading, error)}${hint}`, { cause: error });
      }
      if (error) return;
      if (!this.#read.has(ref) && reading.rows.length === 0) {
        throw new StopError(`batch ${JSON.stringify(batch)} contains no document: there is nothing to wait for`);
      }
      this.#read.add(ref);
    });
  }

  #reportOutage(readings: readonly BatchReading[], at: number): void {
    const failed = readings.flatMap((reading) => (reading.error ? [failureText(reading, reading.error)] : []));
    const { outage, report } = outageAfter(this.#outage, failed.length > 0, at);
    const more = failed.length > 1 ? `; and ${failed.length - 1} more` : "";
    if (report === "failed") this.#options.log("warn", `${failed[0]}${more}; still watching`);
    if (report === "recovered") this.#options.log("info", "every batch can be read again");
    this.#outage = outage;
  }

  /** Warns about every new problem. A problem is reported once. */
  #warn(at: number): void {
    const warnings = watchWarnings(this.#options.progress.documents, at).filter(
      ({ about }) => !this.#reported.has(about),
    );
    for (const { about } of warnings) this.#reported.add(about);
    for (const { text } of warnings.slice(0, mostWarnings)) this.#options.log("warn", text);
    const more = warnings.length - mostWarnings;
    if (more > 0) this.#options.log("warn", `… and ${countOf(more, "more document")} with warnings`);
  }
}

/** The answers of the service before this poll. */
interface Earlier {
  /** Whether the service ever answered. */
  readonly service: boolean;
  /** Whether this batch was ever read. */
  readonly batch: boolean;
}

/**
 * Whether an unreadable batch ends the watch. A refusal does: the batch is unknown or forbidden. But a proxy may refuse while
 * the service restarts, so for a batch that was read before, only the service's own refusal counts, which has a code. A temporary
 * failure does not end the watch once the service has answered. Before that, a refused connection or a page that is not valid JSON
 * means a wrong address.
 */
export function endsWatch(error: SkipError, earlier: Earlier): boolean {
  if (error instanceof GaveUpError) return !earlier.service && (error.status === undefined || error.status < 400);
  return !earlier.batch || error.code !== undefined;
}

/** How long batches have been unreadable. Times are in milliseconds. */
export interface Outage {
  readonly since: number;
  readonly lastReport: number;
}

/** Milliseconds between two warnings of one outage. */
const reportEvery = 600_000;

/** The outage after a poll, and whether to report it: at its start, every ten minutes, and at its end. */
export function outageAfter(
  outage: Outage | undefined,
  failed: boolean,
  now: number,
): { readonly outage: Outage | undefined; readonly report: "failed" | "recovered" | undefined } {
  if (!failed) return { outage: undefined, report: outage && "recovered" };
  if (!outage) return { outage: { since: now, lastReport: now }, report: "failed" };
  if (now - outage.lastReport < reportEvery) return { outage, report: undefined };
  return { outage: { ...outage, lastReport: now }, report: "failed" };
}

/** Something to report once to the watching user. */
interface WatchWarning {
  /** Identifies the same problem in every poll. */
  readonly about: string;
  readonly text: string;
}

/** All current problems: documents in error, paused, gone or stuck. */
export function watchWarnings(documents: WatchedDocuments, now: number): readonly WatchWarning[] {
  return [...documents].flatMap(([key, document]) => {
    const what = warningOf(document, now);
    if (what === undefined) return [];
    const { document_id, batch } = document.row;
    const text = `document ${document_id} of batch ${jsonText(batch)} ${what.text}`;
    return [{ about: `${what.about} ${key}`, text }];
  });
}

function warningOf(document: WatchedDocument, now: number): WatchWarning | undefined {
  const { row, state } = document;
  if (state === "error") return { about: "error", text: `ended in an error: ${errorText(row.error)}` };
  if (state === "gone") return { about: "gone", text: "is no longer in its batch: it was removed or re-indexed" };
  if (state === "paused") return { about: "paused", text: "is paused until someone resumes it" };
  if (isStuck(document, now)) {
    return { about: document.moved === undefined ? "still" : "stuck", text: stuckText(document, now) };
  }
  return undefined;
}

function stuckText(document: WatchedDocument, now: number): string {
  const { row } = document;
  const counts = countsOf(row);
  const age = ageOf(document, now);
  const facts = [
    String(row.indexing_status ?? "unknown"),
    counts && `${counts.done} of ${countOf(counts.total, "chunk")}`,
    age !== undefined && `started ${minutesText(age)} ago`,
    row.error === null ? "no error reported" : errorText(row.error),
  ];
  const still = stillFor(document, now);
  const what = still >= stuckAfter ? `has made no progress for ${minutesText(still)}` : "seems to be stuck";
  return `${what}: ${facts.filter(Boolean).join(", ")}`;
}

function minutesText(milliseconds: number): string {
  return `${Math.floor(milliseconds / 60_000)} min`;
}

function errorText(error: unknown): string {
  if (error === null || error === "") return "no reason reported";
  return typeof error === "string" ? error : jsonText(error);
}
