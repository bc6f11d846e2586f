import { setTimeout as delay } from "node:timers/promises";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import { StopError } from "../errors.js";
import { sayDiskError } from "../file-error.js";
import type { Job } from "../job/job.js";
import { namedDatasets } from "../job/named-datasets.js";
import { type Drift, DriftCount } from "../rows/drift.js";
import type { Row } from "../rows/row.js";
import { type RunOptions, withDefaults } from "../run/setting/run-options.js";
import { withClient } from "../run/setting/with-client.js";
import { foldersOf, refuseLinks } from "../run/work/job-folders.js";
import { addWaiting } from "./add-waiting.js";
import { Poll } from "./poll.js";
import { batchesOf } from "./read-batches.js";
import { emptyWatchTally, type WatchOptions, type WatchTally } from "./watch-options.js";

/** How a watch ended, and where its readings went. */
export interface WatchedStatus {
  /** `error`: every document has ended, some in an error or gone from their batch; `timeout`: some have not ended. */
  readonly status: "completed" | "error" | "timeout";
  /** Duration of the watch. */
  readonly seconds: number;
  readonly polls: number;
  /** Readings that were kept. */
  readonly readings: number;
  /** The last reading of every document. */
  readonly rows: readonly Row[];
  readonly drift: Drift;
  readonly database: string;
  /** False: the readings wait beside the database until the next run adds them. */
  readonly added: boolean;
}

/** Tries after the first, of one request; another poll comes anyway. */
const mostRetries = 2;

/**
 * Polls the batches of a job until every document is completed or in error, or the timeout is over. Every reading that
 * tells something new is kept at once, so that a watch that is killed loses none; the database has them at the end. A poll
 * that fails ends nothing. Rejects with StopError where a batch is unknown or the key is refused, with UsageError where
 * there is no key, or with the reason of `options.signal`.
 */
export async function watchStatus(job: Job, options: WatchOptions): Promise<WatchedStatus> {
  const { interval, timeout, tally = emptyWatchTally(), onPoll = () => {}, sleep = sleepFor, ...rest } = options;
  const setting = withDefaults(rest);
  const { now, log } = setting;
  const startedAt = now().getTime();
  const folders = foldersOf(job);
  await refuseLinks(folders);
  const drift = new DriftCount();
  const poll = new Poll(batchesOf(namedDatasets(job)), { now, log, onPoll, folders, tally, drift: drift.add });
  const deadline = deadlineAfter(timeout, sleep);
  const signal = AbortSignal.any([setting.signal, deadline.signal]);
  const inTime = await withPatientClient(job, { ...setting, signal }, async (api) => {
    while (!(await poll.next(api))) await sleep(interval, signal).catch(() => signal.throwIfAborted());
    return true;
  })
    .catch((error: unknown) => {
      if (deadline.signal.aborted && error === deadline.signal.reason) return false;
      throw sayDiskError(error, job.output.dir, "watching");
    })
    .finally(deadline.cancel);
  const seconds = (now().getTime() - startedAt) / 1000;
  const added = await addReadings(job, setting);
  const { polls, readings } = tally;
  const rows = [...tally.documents.values()].map(({ row }) => row);
  const place = { database: folders.shownDatabase, added };
  return { status: statusOf(tally, inTime), seconds, polls, readings, rows, drift: drift.drift, ...place };
}

/** A database that cannot be read is said, and no reason to keep back how the watch ended. */
async function addReadings(job: Job, setting: Required<RunOptions>): Promise<boolean> {
  return addWaiting(job, setting).catch((error: unknown) => {
    if (!(error instanceof StopError)) throw error;
    setting.log("warn", error.message);
    return false;
  });
}

function statusOf({ documents }: WatchTally, inTime: boolean): WatchedStatus["status"] {
  if (!inTime) return "timeout";
  return [...documents.values()].every(({ state }) => state === "completed") ? "completed" : "error";
}

/** A service that is gone may come back; nothing is said of single requests that are sent again. */
function withPatientClient<T>(
  job: Job,
  setting: Required<RunOptions>,
  work: (api: KnowledgeApi) => Promise<T>,
): Promise<T> {
  const service = { ...job.service, retries: Math.min(job.service.retries, mostRetries) };
  return withClient({ ...job, service }, { ...setting, log: () => {} }, work, { patient: true });
}

/** A signal that is aborted after so many milliseconds, with a reason of its own, unless it is cancelled before. */
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
