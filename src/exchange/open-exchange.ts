import { rm } from "node:fs/promises";
import { openBucket } from "../bucket/open-bucket.js";
import type { Job } from "../job/job.js";
import type { Log } from "../log.js";
import { outlastStore } from "../run/bucket/outlast-store.js";
import { foldersOf, type Hold } from "../run/work/job-folders.js";
import { shownPath } from "../run/work/remote.js";
import { openBucketExchange, ownBucketExchange } from "./bucket-exchange.js";
import { removeOtherKeys } from "./bucket-place.js";
import type { Exchange, OwnExchange } from "./exchange.js";
import { openFolderExchange, ownFolderExchange } from "./folder-exchange.js";
import { removeOtherFolders } from "./folder-place.js";
import { openWorkerFolder } from "./worker-folder.js";

export interface ExchangeOptions {
  /** Names the credentials of the bucket. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends every request to the bucket. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  readonly log: Log;
}

/** The exchanges of the runs of one job, for a worker. */
export interface Exchanges {
  /** The exchange of a run. StopError for an id that is none. */
  readonly of: (runId: string) => Promise<Exchange>;
  /** Removes what this worker has on this machine, and closes the connections. */
  readonly close: () => Promise<void>;
}

/** Opens the exchanges in the output of a job, a folder or a bucket. A worker does not hold the job. */
export async function openExchanges(job: Job, { env, signal, now, log }: ExchangeOptions): Promise<Exchanges> {
  const folders = foldersOf(job);
  if (job.output.bucket === undefined)
    return { of: (runId) => openFolderExchange(folders, runId), close: async () => {} };
  const bucket = await openBucket(shownPath(job, folders.folder), { env, signal });
  const folder = await openWorkerFolder(folders, now());
  const { outage } = job.service;
  const store = { bucket, outlast: <T>(work: () => Promise<T>) => outlastStore(work, { outage, log, signal }) };
  return {
    of: async (runId) => openBucketExchange(store, runId, folder),
    close: async () => {
      await rm(folder, { recursive: true, force: true });
      await bucket.close();
    },
  };
}

/** Opens the exchange of a run for its coordinator, which holds the job; makes it where there is none. */
export async function ownExchange(hold: Hold, runId: string): Promise<OwnExchange> {
  return hold.remote ? ownBucketExchange(hold.remote, runId) : ownFolderExchange(hold, runId);
}

/** Removes the exchanges of all runs of a job but this one, or of all. The caller holds the job. */
export async function removeOtherExchanges(hold: Hold, runId: string | undefined): Promise<void> {
  if (!hold.remote) return removeOtherFolders(hold, runId);
  await hold.remote.outlast(hold.remote.confirm);
  await removeOtherKeys(hold.remote, runId);
}
