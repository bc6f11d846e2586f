import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bytesText } from "../amounts.js";
import { type ListedFile, listedFiles, type Manifest, manifestName } from "../dump/manifest.js";
import { readManifest } from "../dump/read-manifest.js";
import { isRunId } from "../dump/run-id.js";
import { StopError } from "../errors.js";
import { problemText } from "../file-error.js";
import { forEachOf, ifAbsent } from "../files/files.js";
import { fingerprint } from "../files/join-segments.js";
import type { Log } from "../log.js";
import { type Bucket, type Condition, cleanUpBucket, type ObjectFacts, removeBelow } from "./bucket/bucket.js";
import type { BucketRun, Head } from "./bucket/head.js";
import type { BucketLease } from "./bucket/lease.js";
import { DamagedError } from "./bucket/objects.js";
import { pendingDatabase } from "./folder/fence.js";
import { type LeasedJob, makeOwnFolder, type Remote } from "./folder/job-folders.js";
import { moveAside, removeFrom } from "./folder/remove-from.js";

interface RemoteOptions {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The store ignores conditions. */
  readonly unsafe: boolean;
  /** Seconds for which the store may be gone while a run is uploaded. */
  readonly outage: number;
}

/** The key of the report of a job's newest run that had one. */
const reportKey = "report.html";

/**
 * Opens the bucket of a job for the run that holds it. Removes what earlier holders left in it, and makes the work folder one of the
 * runs that the head lists: their manifests, and nothing of other runs.
 */
export async function openRemote(
  bucket: Bucket,
  held: BucketLease,
  leased: LeasedJob,
  { log, signal, unsafe, outage }: RemoteOptions,
): Promise<Remote> {
  await cleanUpBucket(bucket, held.head()).catch((error: unknown) => {
    log("warn", `what earlier runs left in ${bucket.url} could not be removed: ${problemText(error)}`);
  });
  await syncManifests(bucket, held.head(), leased, { log, signal });
  await stripRuns(leased);
  const databaseKey = `${bucket.url.slice(bucket.url.lastIndexOf("/") + 1)}.duckdb`;
  let database: Condition = "absent";

  /** The condition was taken while the job was held, so it fails once a successor has written there. */
  const replace = async (key: string, path: string, condition: Condition): Promise<Condition> => {
    const { sha256 } = await fingerprint(path);
    const before = unsafe ? (await bucket.look(key))?.etag : undefined;
    await held.confirm();
    const holds = !unsafe || before === (condition === "absent" ? undefined : condition.etag);
    const options = { sha256, signal, ...(unsafe ? {} : { condition }) };
    const written = holds ? await bucket.putFile(key, path, options) : "refused";
    if (written !== "refused") return written;
    await held.confirm();
    throw new StopError(`${bucket.url}/${key} was changed by an earlier run that woke late, or by hand`);
  };

  return {
    uploadRun: (manifest, stage, ends) => uploadRun(bucket, held, manifest, stage, { outage, log, signal: ends }),
    fetchRun: (runId, folder, ends) => fetchRun(bucket, held.head(), runId, folder, ends),
    fetchDatabase: async (most) => {
      const found = await bucket.look(databaseKey);
      if (found && most !== undefined && found.bytes > most) return false;
      await fetchDatabase(bucket, databaseKey, found, leased, { log, signal });
      database = found ? { etag: found.etag } : "absent";
      return true;
    },
    publishDatabase: async (path) => {
      database = await replace(databaseKey, path, database);
    },
    publishReport: async (path) => {
      const found = await bucket.look(reportKey);
      await replace(reportKey, path, found ? { etag: found.etag } : "absent");
    },
    dropRun: async (runId) => {
      const folder = held.head().runs.find(({ run_id }) => run_id === runId)?.folder;
      await held.dropRuns([runId]);
      if (folder === undefined) return;
      await removeFolder(bucket, folder).catch((error: unknown) => {
        log("warn", `some files of run ${runId} stay until the next run removes them: ${problemText(error)}`);
      });
    },
    bucket,
    retryUntilBack: (work) => retryUntilStoreIsBack(work, { outage, log, signal }),
    confirm: () => held.confirm(),
  };
}

/**
 * Makes the database in the work folder the one that was found in the bucket. It is fetched only if it is another; then databases that an
 * earlier run built upon the local one, and did not publish, go with it. Where the bucket has none, the local one is kept aside.
 */
async function fetchDatabase(
  bucket: Bucket,
  key: string,
  found: ObjectFacts | undefined,
  leased: LeasedJob,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const local = await fingerprint(leased.database).catch(ifAbsent(undefined));
  const isSame = local && found ? local.sha256 === found.sha256 : local === found;
  if (isSame) return;
  await forgetBuilt(leased);
  if (!found) return keepLast(leased, log);
  log("info", `fetching ${bucket.url}/${key} (${bytesText(found.bytes)})`);
  const aside = join(leased.own, "fetched.duckdb");
  await rm(aside, { force: true });
  await bucket.fetchFile(key, aside, found, { signal });
  await removeLocal(leased);
  await rename(aside, leased.database);
}

/** Somebody removed the database from the bucket: the copy may be the last one of the history of runs that are gone. */
async function keepLast(leased: LeasedJob, log: Log): Promise<void> {
  const aside = await moveAside(leased, leased.database);
  await removeLocal(leased);
  const problem = `${leased.shownDatabase} is gone, and is built again from the runs that are left`;
  log("warn", `${problem}. Its last copy is kept as ${aside}`);
}

/** The write-ahead log goes with its database: DuckDB would replay it on the next one. */
async function removeLocal(leased: LeasedJob): Promise<void> {
  for (const path of [`${leased.database}.wal`, leased.database]) await removeFrom(leased, path);
}

/** Manifests on their way at once. */
const manifestsAtOnce = 8;

/** Makes the runs of the work folder those that the head lists: the manifest of each is there, unless it is damaged, and no other run is. */
async function syncManifests(
  bucket: Bucket,
  head: Head,
  leased: LeasedJob,
  { log, signal }: Pick<FetchTargets, "log" | "signal">,
): Promise<void> {
  const listed = new Map(head.runs.map((run) => [run.run_id, run]));
  for (const runId of (await readdir(leased.runs)).filter(isRunId)) {
    const run = listed.get(runId);
    if (run && (await hasManifestOf(join(leased.runs, runId), run))) listed.delete(runId);
    else await removeFrom(leased, join(leased.runs, runId));
  }
  const aside = join(leased.own, "manifests");
  await rm(aside, { recursive: true, force: true });
  await makeOwnFolder(aside);
  await fetchManifests(bucket, [...listed.values()], { aside, target: leased.runs, log, signal });
  await rm(aside, { recursive: true, force: true });
}

interface FetchTargets {
  /** The folder in which each run folder is made before it gets its name. */
  readonly aside: string;
  readonly target: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Writes a folder with the manifest for each of these runs; an empty one, with a warning, where it is damaged. */
export async function fetchManifests(
  bucket: Bucket,
  runs: readonly BucketRun[],
  { aside, target, log, signal }: FetchTargets,
): Promise<void> {
  await forEachOf(runs, manifestsAtOnce, async (run) => {
    await fetchManifest(bucket, run, join(aside, run.run_id), signal).catch((error: unknown) => {
      if (!(error instanceof DamagedError)) throw error;
      log("warn", `run ${run.run_id} is damaged, and stays as it is: ${error.message}`);
    });
    await rename(join(aside, run.run_id), join(target, run.run_id));
  });
}

async function hasManifestOf(folder: string, { manifest }: BucketRun): Promise<boolean> {
  const found = await fingerprint(join(folder, manifestName)).catch(() => undefined);
  return found?.sha256 === manifest.sha256;
}

/** Files on their way at once. */
const downloadsAtOnce = 4;

/** Writes the manifest and the rows of a run into a new folder, without its originals. StopError where the run is not whole. */
async function fetchRun(bucket: Bucket, head: Head, runId: string, folder: string, signal: AbortSignal): Promise<void> {
  const run = head.runs.find(({ run_id }) => run_id === runId);
  if (!run) throw new StopError(`${bucket.url} has no run ${runId}`);
  await fetchManifest(bucket, run, folder, signal);
  const { manifest, problems } = (await readManifest(folder)) ?? { problems: ["is not there"] };
  if (!manifest) throw new StopError(`${bucket.url}/${run.folder}/${manifestName} ${problems.join("; ")}`);
  await forEachOf(manifest.files, downloadsAtOnce, async ({ path, bytes, sha256 }) => {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await bucket.fetchFile(`${run.folder}/${path}`, join(folder, path), { bytes, sha256 }, { signal });
  });
}

/** Writes the manifest of a run into a new folder. */
async function fetchManifest(
  bucket: Bucket,
  { folder: from, manifest }: BucketRun,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  await makeOwnFolder(folder);
  await bucket.fetchFile(`${from}/${manifestName}`, join(folder, manifestName), manifest, { signal });
}

/** Files on their way at once. Of a large one, three parts are. */
const uploadsAtOnce = 3;

/**
 * Uploads a staged run into a folder of its holder, the manifest last. Each file must have the SHA-256 of the manifest. Resolves to the
 * commit, which lists the run. Both are retried while the store is gone for a while. Where the upload fails, what was uploaded is removed again, as far as that is possible.
 */
async function uploadRun(
  bucket: Bucket,
  held: BucketLease,
  manifest: Manifest,
  stage: string,
  patience: Patience,
): Promise<() => Promise<void>> {
  const { signal } = patience;
  const { run_id, status } = manifest;
  const folder = held.folderOf(run_id);
  const put = ({ path, sha256 }: ListedFile) =>
    retryUntilStoreIsBack(() => bucket.putFile(`${folder}/${path}`, join(stage, path), { sha256, signal }), patience);
  const facts = await fingerprint(join(stage, manifestName));
  try {
    await forEachOf(listedFiles(manifest), uploadsAtOnce, async (file) => {
      signal.throwIfAborted();
      await put(file);
    });
    await put({ path: manifestName, ...facts });
  } catch (error) {
    if (!held.lost.aborted) await removeFolder(bucket, folder).catch(() => {}); // else the successor removes it
    throw error;
  }
  const run = { run_id, status, folder, manifest: facts };
  return () =>
    retryUntilStoreIsBack(() => held.commit(run, { isComplete: status === "complete" }), patience).catch(
      (error: unknown) => {
        throw isTrouble(error) ? uncertain(error, bucket.url) : error;
      },
    );
}

/** The error of a commit without an answer. */
function uncertain(error: StopError, url: string): StopError {
  const text = `${error.message}. The run may have been published nevertheless: kbdump list ${url} tells`;
  return new StopError(text, { cause: error });
}

/** Removes the files of a run that no head lists, or that none lists any more. */
async function removeFolder(bucket: Bucket, folder: string): Promise<void> {
  await removeBelow(bucket, folder);
  for await (const upload of bucket.uploads(`${folder}/`)) await bucket.endUpload(upload); // last: some stores do not list them
}

/**
 * Leaves the manifests alone of the runs in the work folder: the bucket has the rest. The originals of the newest run stay, because the
 * next run takes those from there that are unchanged.
 */
export async function stripRuns(leased: LeasedJob): Promise<void> {
  const runIds = (await readdir(leased.runs)).filter(isRunId).sort();
  for (const runId of runIds) {
    const needed = [manifestName, ...(runId === runIds.at(-1) ? ["originals"] : [])];
    const folder = join(leased.runs, runId);
    const names = (await readdir(folder)).filter((name) => !needed.includes(name));
    for (const name of names) await removeFrom(leased, join(folder, name));
  }
}

/** Removes databases that an earlier run built and did not publish: the one in the bucket may have changed since. */
async function forgetBuilt(leased: LeasedJob): Promise<void> {
  await rm(join(leased.own, pendingDatabase), { force: true });
  for (const runId of (await readdir(leased.own)).filter(isRunId))
    await rm(join(leased.own, runId, "scratch"), { recursive: true, force: true });
}

interface Patience {
  /** Seconds for which the store may be gone. */
  readonly outage: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Statuses of a store that has trouble for a while: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const troubles: readonly unknown[] = [429, 500, 502, 503, 504];

/** The longest time between two tries, in milliseconds. */
const longest = 15_000;

/**
 * Does some work again while the store gives no answer, or says that it has trouble, until the outage is over. The work must do no
 * harm when it is done twice.
 */
export async function retryUntilStoreIsBack<T>(work: () => Promise<T>, { outage, log, signal }: Patience): Promise<T> {
  const end = performance.now() + outage * 1000;
  for (let wait = 1000; ; wait = Math.min(wait * 2, longest)) {
    try {
      return await work();
    } catch (error) {
      if (!isTrouble(error) || performance.now() + wait > end) throw error;
      log("warn", `${error.message}; next try in ${wait / 1000} s`);
      await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/**
 * Whether the store gave no answer, or has a fault: what was asked of it may have taken place. An error without a status but with a
 * cause is that of a request without an answer.
 */
function isTrouble(error: unknown): error is StopError {
  if (!(error instanceof StopError)) return false;
  return error.status === undefined ? error.cause !== undefined : troubles.includes(error.status);
}
