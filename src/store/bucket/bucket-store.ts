import { readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bytesText } from "../../amounts.js";
import { type ListedFile, listedFiles, type Manifest, manifestName } from "../../dump/manifest.js";
import { isRunId } from "../../dump/run-id.js";
import { StopError } from "../../errors.js";
import { problemText } from "../../file-error.js";
import { forEachOf, ifAbsent, makeOwnFolder } from "../../files/files.js";
import { fingerprint } from "../../files/join-segments.js";
import type { RunOptions } from "../../job/open-service.js";
import { FolderStore, moveAside, pendingDatabase, removeFrom } from "../folder/folder-store.js";
import type { OwnFolder } from "../folder/job-folders.js";
import { type Bucket, removeWithUploads } from "./bucket.js";
import { fetchFiles, fetchRun, manifestOf, type WantedFile } from "./fetch-run.js";
import { type BucketLease, type BucketRun, folderOfKey, type Head, runFolderOf, withoutRun, withRun } from "./head.js";
import type { Condition, ObjectFacts } from "./objects.js";

/** `outage`: the seconds that an outage of the store may last. */
type Patience = Required<Pick<RunOptions, "log" | "signal">> & { readonly outage: number };

/**
 * The store of a job that publishes to a bucket. Every change goes to the bucket first, then to the work folder. The work folder has
 * the manifests of exactly those runs that the head lists.
 */
export class BucketStore extends FolderStore {
  /** The bucket of the job, also used for the exchange of a run. Only runs in head.json are dumps. */
  readonly bucket: Bucket;
  readonly #lease: BucketLease;
  readonly #patience: Patience;
  readonly #databaseKey: string;
  /**
   * The bucket's database as this owner last fetched or wrote it. A write requires that it is still there unchanged, so it
   * never replaces a successor's database.
   */
  #database: Condition = "absent";
  #uploaded: BucketRun | undefined;

  constructor(bucket: Bucket, lease: BucketLease, owned: OwnFolder, patience: Patience) {
    super(owned);
    [this.bucket, this.#lease, this.#patience] = [bucket, lease, patience];
    this.#databaseKey = `${basename(bucket.url)}.duckdb`;
  }

  /** Removes leftovers of earlier owners from the bucket, and updates the work folder. */
  async begin(): Promise<void> {
    await cleanUpBucket(this.bucket, this.#lease.head()).catch((error: unknown) => {
      const what = `what earlier runs left in ${this.bucket.url} could not be removed`;
      this.#patience.log("warn", `${what}: ${problemText(error)}`);
    });
    await syncManifests(this.bucket, this.#lease.head(), this.owned, this.#patience);
    await this.tidy();
  }

  /** Checks the lease. Rejects with LostError if another run has taken over. */
  readonly confirm = () => this.#lease.change((head) => head);

  /** Retries `work` during an outage of the store, for at most `service.outage`. `work` must be safe to repeat. */
  readonly retryUntilBack = <T>(work: () => Promise<T>) => retryUntilStoreIsBack(work, this.#patience);

  /**
   * Uploads a staged run into a folder of its owner, the manifest last. Each file must match its SHA-256 in the manifest. If the
   * upload fails, removes the uploaded files if possible.
   */
  override async upload(manifest: Manifest, stage: string, signal: AbortSignal): Promise<void> {
    const { run_id, status } = manifest;
    const folder = runFolderOf(this.#lease.head(), run_id);
    const put = async ({ path, sha256 }: Pick<ListedFile, "path" | "sha256">) => {
      const upload = () => this.bucket.putFile(`${folder}/${path}`, join(stage, path), { sha256, signal });
      await retryUntilStoreIsBack(upload, { ...this.#patience, signal });
    };
    const facts = await fingerprint(join(stage, manifestName));
    try {
      await forEachOf(listedFiles(manifest), uploadsAtOnce, put, signal);
      await put({ path: manifestName, ...facts });
    } catch (error) {
      if (!this.#lease.lost.aborted) await removeWithUploads(this.bucket, folder).catch(() => {}); // otherwise the successor removes it
      throw error;
    }
    this.#uploaded = { run_id, status, folder, manifest: facts };
  }

  /** Publishes the uploaded run by adding it to the head. */
  override async commit(): Promise<void> {
    const run = this.#uploaded;
    if (!run) throw new Error("a run is uploaded before it is committed");
    const commit = () => this.#lease.change((head) => withRun(head, run));
    await this.retryUntilBack(commit).catch((error: unknown) => {
      if (!isTrouble(error)) throw error;
      const text = `${error.message}. The run may have been published nevertheless: kbdump list ${this.bucket.url} shows that`;
      throw new StopError(text, { cause: error });
    });
  }

  override async follow(manifest: Manifest, stage: string): Promise<void> {
    await super.commit(manifest, stage);
  }

  override async fetchRun(runId: string, into: string, signal: AbortSignal): Promise<string> {
    const run = this.#runOf(runId);
    if (!run) throw new StopError(`${this.bucket.url} has no run ${runId}`);
    await rm(into, { recursive: true, force: true });
    await makeOwnFolder(into);
    await fetchRun(this.bucket, run, into, { signal }, ({ files }) => files); // its originals stay in the bucket
    return into;
  }

  #runOf(runId: string): BucketRun | undefined {
    return this.#lease.head().runs.find(({ run_id }) => run_id === runId);
  }

  override async fetchDatabase(most?: number): Promise<boolean> {
    const found = await this.bucket.look(this.#databaseKey);
    if (found && most !== undefined && found.bytes > most) return false;
    const local = await fingerprint(this.owned.database).catch(ifAbsent(undefined));
    const isSame = local && found ? local.sha256 === found.sha256 : local === found;
    if (!isSame) await this.#replaceLocal(found);
    this.#database = found ?? "absent";
    return true;
  }

  /**
   * Replaces the local database with the bucket's. If the bucket has none, moves the local one aside: it may be the last copy of the
   * history of removed runs.
   */
  async #replaceLocal(found: ObjectFacts | undefined): Promise<void> {
    const { own, database, shownDatabase } = this.owned;
    const { log, signal } = this.#patience;
    // Also databases that earlier runs built from the local one and did not publish: the bucket's has changed since.
    const built = (await readdir(own)).filter(isRunId).map((runId) => join(runId, "scratch"));
    for (const name of [pendingDatabase, ...built]) await rm(join(own, name), { recursive: true, force: true });
    const fetched = join(own, "fetched.duckdb");
    const aside = found ? undefined : await moveAside(this.owned, database);
    if (found) {
      log("info", `fetching ${this.bucket.url}/${this.#databaseKey} (${bytesText(found.bytes)})`);
      await this.bucket.fetchFile(this.#databaseKey, fetched, { ...found, signal });
    }
    // Also removes its write-ahead log, which DuckDB would replay on the next database.
    for (const path of [`${database}.wal`, database]) await removeFrom(this.owned, path);
    if (found) return rename(fetched, database);
    const problem = `${shownDatabase} is gone, and is built again from the runs that are left`;
    log("warn", `${problem}. Its last copy is kept as ${aside}`);
  }

  override async replaceDatabase(built: string, keepsOld: boolean): Promise<string | undefined> {
    this.#database = await this.#replace(this.#databaseKey, built, this.#database);
    return super.replaceDatabase(built, keepsOld);
  }

  override async publishReport(path: string): Promise<void> {
    await this.#replace(basename(path), path, (await this.bucket.look(basename(path))) ?? "absent");
  }

  /** Uploads a file if `condition`, which was read during this lease, still holds. So the upload fails if a successor replaced the file. */
  async #replace(key: string, path: string, condition: Condition): Promise<Condition> {
    const { sha256 } = await fingerprint(path);
    await this.confirm();
    const written = await this.bucket.putFile(key, path, { sha256, signal: this.#patience.signal, condition });
    if (written !== "refused") return written;
    await this.confirm();
    throw new StopError(`${this.bucket.url}/${key} was changed by an earlier run that woke late, or by hand`);
  }

  /** Removes a run from the head, then removes its files. */
  override async removeRun(runId: string): Promise<void> {
    const folder = this.#runOf(runId)?.folder;
    await this.#lease.change((head) => withoutRun(head, runId));
    if (folder !== undefined)
      await removeWithUploads(this.bucket, folder).catch((error: unknown) => {
        const what = `some files of run ${runId} stay until the next run removes them`;
        this.#patience.log("warn", `${what}: ${problemText(error)}`);
      });
    await super.removeRun(runId);
  }

  /** Removes local files that no later run needs. Keeps the newest run's originals, because the next run reuses the unchanged ones. */
  override async tidy(): Promise<void> {
    const { runs } = this.owned;
    const runIds = (await readdir(runs)).filter(isRunId).sort();
    for (const runId of runIds) {
      const needed = [manifestName, ...(runId === runIds.at(-1) ? ["originals"] : [])];
      const names = (await readdir(join(runs, runId))).filter((name) => !needed.includes(name));
      for (const name of names) await removeFrom(this.owned, join(runs, runId, name));
    }
  }
}

/** Maximum files to upload at once. A large file uploads three parts at once. */
const uploadsAtOnce = 3;

/**
 * Removes run folders that earlier owners left behind, and ends their multipart uploads. Such a folder is not listed in the
 * head, and has a lower epoch than the head. So an owner that was stalled, whose own epoch is low, never removes files of its
 * successor.
 */
export async function cleanUpBucket(bucket: Bucket, head: Head): Promise<void> {
  const listed = new Set(head.runs.map(({ folder }) => folder));
  await removeWithUploads(bucket, "runs", (key) => {
    const location = folderOfKey(key);
    return location !== undefined && location.epoch < head.epoch && !listed.has(location.folder);
  });
}

/** Syncs the work folder with the head: fetches the manifests of the listed runs, unless damaged, and removes all other runs. */
async function syncManifests(bucket: Bucket, head: Head, owned: OwnFolder, { log, signal }: Patience): Promise<void> {
  const listed = new Map(head.runs.map((run) => [run.run_id, run]));
  for (const runId of (await readdir(owned.runs)).filter(isRunId)) {
    const found = await fingerprint(join(owned.runs, runId, manifestName)).catch(() => undefined);
    if (found && found.sha256 === listed.get(runId)?.manifest.sha256) listed.delete(runId);
    else await removeFrom(owned, join(owned.runs, runId));
  }
  const aside = join(owned.own, "manifests");
  await makeOwnFolder(aside);
  const missing = [...listed.values()];
  const files = missing.map((run) => manifestOf(run, join(run.run_id, manifestName)));
  const onDamaged = ({ path }: WantedFile, { message }: Error) =>
    log("warn", `run ${dirname(path)} is damaged, and stays as it is: ${message}`);
  await fetchFiles(bucket, aside, files, { step: "reading manifests", signal, onDamaged });
  for (const { run_id } of missing) await rename(join(aside, run_id), join(owned.runs, run_id));
}

/** Statuses with which a store reports a temporary failure: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const troubles: readonly unknown[] = [429, 500, 502, 503, 504];

/** The longest wait between two tries, in milliseconds. */
const longest = 15_000;

/** Retries `work`, which must be safe to repeat, while the store does not answer or fails temporarily, for at most `outage` seconds. */
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
 * Whether the store gave no answer or failed temporarily. The request may have succeeded. No answer means an error with a
 * cause but without a status.
 */
function isTrouble(error: unknown): error is StopError {
  if (!(error instanceof StopError)) return false;
  return error.status === undefined ? error.cause !== undefined : troubles.includes(error.status);
}
