import { readlink, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openWriter } from "../client/write/writer.js";
import type { Dump } from "../dump/open-dump.js";
import { isRunId, restoreFolderOf } from "../dump/run-id.js";
import { problemText } from "../file-error.js";
import { makeFolder, refuseLink } from "../files/files.js";
import { settingNames } from "../job/open-service.js";
import { openJournal } from "../journal/journal.js";
import { entriesOf, isToken } from "../store/folder/fence.js";
import { lockJob } from "../store/folder/lock.js";
import { openTarget, type TargetService, targetLabels } from "./target.js";
import type { WriteOptions } from "./write-once.js";

/** The checked settings shared by a restore and a copy. Ids are in lower case, times in milliseconds. */
export interface SessionOptions
  extends TargetService,
    Pick<WriteOptions, "settle" | "lockTime" | "sleep" | "progress"> {
  readonly folder: string;
  /** Ids of documents of the run; empty: all of them. */
  readonly documents: readonly string[];
  readonly apply: boolean;
  /** Maximum time for one write. */
  readonly timeout: number;
}

/**
 * A restore or a copy that may write. At the end of its scope, it closes its connections and its journal, and releases its folder. Its
 * signal is also aborted soon after another process took over.
 */
export interface Session extends AsyncDisposable, WriteOptions {
  /** The folder of the journal and of the dumps before and after the writes. */
  readonly folder: string;
}

/**
 * Takes the lock of a restore and opens its journal and clients. `another`: begins another copy, even if one is unfinished. Throws
 * BusyError if another restore is active; StopError if the journal cannot be used.
 */
export async function openSession(
  run: Dump,
  folder: string,
  options: SessionOptions & { readonly another?: boolean },
): Promise<Session> {
  const { baseUrl, key = "", keyEnv, env, now, log, another = false, concurrency = 4 } = options;
  const { timeout, settle, lockTime, sleep, progress } = options;
  const opened: (() => PromiseLike<unknown>)[] = [];
  const end = async (): Promise<void> => {
    const close = opened.pop();
    try {
      await close?.();
    } finally {
      if (close) await end();
    }
  };
  try {
    const lease = await leaseRestoreFolder(run.folder, options);
    opened.push(() => lease[Symbol.asyncDispose]());
    const { signal, checkOwn } = lease;
    const journal = await openJournal(folder, { runId: run.manifest.run_id, baseUrl, now, checkOwn, another });
    opened.push(() => journal.close());
    const service = await openTarget({ ...options, signal }, run.manifest.documents);
    opened.push(() => service[Symbol.asyncDispose]());
    const api = service.client;
    const names = settingNames(targetLabels);
    const connecting = { baseUrl, key, keySource: `the variable ${keyEnv}`, concurrency, env, signal, names };
    // The writer shares the client's pace, so that both together send at most `maxRps` requests a second.
    const writer = openWriter({ ...connecting, pace: api.pace, timeout: timeout / 1_000 });
    opened.push(() => writer.close());
    const times = { now: () => now().getTime(), sleep, settle, lockTime };
    return { folder, api, writer, journal, signal, log, progress, concurrency, ...times, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Leases the folder of a run's restores, creating it if needed, until it is disposed. `signal` is also aborted soon after another process
 * took over; `checkOwn` rejects with LostError then. Throws BusyError if another restore of the same run is active; StopError if the
 * folder is a link or contains one.
 */
export async function leaseRestoreFolder(
  runFolder: string,
  { now, log, signal }: Pick<SessionOptions, "now" | "log" | "signal">,
) {
  const path = restoreFolderOf(runFolder);
  await refuseLinksBeside(runFolder);
  await makeFolder(path);
  const lock = await lockJob(path, now(), { busy: "another restore of this run is active" });
  const own = join(path, `.${lock.owner.id}`);
  await makeFolder(own);
  const killed = lock.replaced?.id ?? ""; // from a file, so anything but a UUID must not become a path
  if (isToken(killed)) await rm(join(path, `.${killed}`), { recursive: true, force: true });
  const release = async () => {
    await lock
      .release(own)
      .catch((error: unknown) => log("warn", `the lock could not be released: ${problemText(error)}`));
    await rm(own, { recursive: true, force: true });
  };
  return { path, signal: AbortSignal.any([signal, lock.lost]), checkOwn: lock.confirm, [Symbol.asyncDispose]: release };
}

/**
 * Refuses symbolic links in, or in place of, the folder of a run's restores. A run from someone else may contain them, and they
 * would lead the journal and the dumps elsewhere. The StopError names the first one. Changes nothing.
 */
export async function refuseLinksBeside(runFolder: string): Promise<void> {
  const folder = restoreFolderOf(runFolder);
  await refuseLink(folder);
  await refuseLinksIn(folder);
}

async function refuseLinksIn(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await refuseLinksIn(path);
    else if (entry.isSymbolicLink() && !(await isLatest(path))) await refuseLink(path);
  }
}

/** Whether this is the link that a run makes to its newest dump, which stays inside the folder. */
async function isLatest(path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => "");
  return basename(path) === "latest" && dirname(target) === "runs" && isRunId(basename(target));
}
