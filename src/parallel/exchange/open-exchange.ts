import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ifAbsent, readRegular } from "../../files/files.js";
import type { Job } from "../../job/job.js";
import type { Log } from "../../log.js";
import { openBucket } from "../../store/bucket/open-bucket.js";
import { isToken } from "../../store/folder/fence.js";
import {
  foldersOf,
  type JobFolders,
  type LeasedJob,
  makeFolder,
  refuseLinks,
  shownPath,
} from "../../store/folder/job-folders.js";
import { isAlive, ownerFrom, thisOwner } from "../../store/folder/lock-owner.js";

import { retryUntilStoreIsBack } from "../../store/remote.js";
import { openBucketExchange, ownBucketExchange, removeOtherKeys } from "./bucket-exchange.js";
import type { Exchange, OwnExchange } from "./exchange.js";
import { openFolderExchange, ownFolderExchange, removeOtherFolders } from "./folder-exchange.js";

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
  const store = {
    bucket,
    retryUntilBack: <T>(work: () => Promise<T>) => retryUntilStoreIsBack(work, { outage, log, signal }),
  };
  return {
    of: async (runId) => openBucketExchange(store, runId, folder),
    close: async () => {
      await rm(folder, { recursive: true, force: true });
      await bucket.close();
    },
  };
}

/** Opens the exchange of a run for its coordinator, which holds the job; makes it where there is none. */
export async function ownExchange(leased: LeasedJob, runId: string): Promise<OwnExchange> {
  return leased.remote ? ownBucketExchange(leased.remote, runId) : ownFolderExchange(leased, runId);
}

/** Removes the exchanges of all runs of a job but this one, or of all. The caller holds the job. */
export async function removeOtherExchanges(leased: LeasedJob, runId: string | undefined): Promise<void> {
  if (!leased.remote) return removeOtherFolders(leased, runId);
  await leased.remote.retryUntilBack(leased.remote.confirm);
  await removeOtherKeys(leased.remote, runId);
}

/** Milliseconds after which the folder of a worker counts as left behind although it is not known whether its process lives. */
const keptFor = 7 * 86_400_000;

const prefix = "worker-";
const ownerFile = "owner.json";

/**
 * Makes a folder of this worker alone, `.work/worker-<token>`, for what it reads before it is uploaded. Removes those of killed
 * workers of this machine.
 */
export async function openWorkerFolder(folders: JobFolders, now: Date): Promise<string> {
  await refuseLinks(folders);
  await makeFolder(folders.private);
  await removeLeftFolders(folders, now);
  const folder = join(folders.private, `${prefix}${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, ownerFile), JSON.stringify(await thisOwner(now)), { mode: 0o600 });
  return folder;
}

/** Removes the folders of workers whose process is proved dead, or that were not used for days. */
async function removeLeftFolders({ private: hidden }: JobFolders, now: Date): Promise<void> {
  for (const entry of await readdir(hidden, { withFileTypes: true })) {
    const { name } = entry;
    if (!entry.isDirectory() || !name.startsWith(prefix) || !isToken(name.slice(prefix.length))) continue;
    if (await isLeft(join(hidden, name), now)) await rm(join(hidden, name), { recursive: true, force: true });
  }
}

async function isLeft(folder: string, now: Date): Promise<boolean> {
  const content = await readRegular(join(folder, ownerFile)).catch(() => Buffer.alloc(0));
  const owner = ownerFrom(content.toString("utf8"));
  const lives = owner && (await isAlive(owner));
  if (lives !== undefined) return !lives;
  const facts = await lstat(folder).catch(ifAbsent(undefined));
  return facts !== undefined && now.getTime() - facts.mtimeMs > keptFor;
}
