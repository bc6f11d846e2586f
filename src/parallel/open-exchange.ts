import type { Job } from "../job/job.js";
import type { RunOptions } from "../job/open-service.js";
import { openBucket } from "../store/bucket/bucket.js";
import { retryUntilStoreIsBack } from "../store/bucket/bucket-store.js";
import { openCopies } from "../store/bucket/copies.js";
import { foldersOf, refuseLinks, shownPath } from "../store/folder/job-folders.js";
import type { LeasedJob } from "../store/lease.js";
import { bucketExchange, ownBucketExchange, removePrefixes } from "./bucket-exchange.js";
import type { OwnExchange } from "./exchange.js";
import { folderExchange, ownFolderExchange, removeFolders } from "./folder-exchange.js";

/** `env` has the credentials of the bucket; `signal` aborts every request to it. */
export type ExchangeOptions = Required<Pick<RunOptions, "env" | "signal" | "log">>;

/**
 * Opens the exchanges of a job's runs in its output, a folder or a bucket, for a worker, which has no lease on the job. `of` returns
 * the exchange of a run. At the end of the scope, the worker's local files are removed.
 */
export async function openExchanges(job: Job, { env, signal, log }: ExchangeOptions) {
  const folders = foldersOf(job);
  if (job.output.bucket === undefined)
    return { of: (runId: string) => folderExchange(folders, runId), [Symbol.asyncDispose]: async () => {} };
  await refuseLinks(folders);
  const bucket = await openBucket(shownPath(job, folders.folder), { env, signal });
  const copies = openCopies({ KBDUMP_COPIES: folders.private }, undefined, "output.work_dir");
  const { outage } = job.service;
  const retryUntilBack = <T>(work: () => Promise<T>) => retryUntilStoreIsBack(work, { outage, log, signal });
  return {
    of: async (runId: string) => bucketExchange({ bucket, retryUntilBack }, runId, await copies.folderOf(bucket.url)),
    [Symbol.asyncDispose]: async () => {
      await copies[Symbol.asyncDispose]();
      await bucket[Symbol.asyncDispose]();
    },
  };
}

/** Opens the exchange of a run for its coordinator, which has the lease of the job; makes it if needed. */
export async function ownExchange(leased: LeasedJob, runId: string): Promise<OwnExchange> {
  return leased.remote ? ownBucketExchange(leased.remote, runId) : ownFolderExchange(leased, runId);
}

/** Removes the exchanges of all runs of a job, or of all but this one. The caller has the lease of the job. */
export async function removeOtherExchanges(leased: LeasedJob, runId: string | undefined): Promise<void> {
  const isChosen = (name: string) => name !== runId;
  await (leased.remote ? removePrefixes(leased.remote, isChosen) : removeFolders(leased, isChosen));
}
