import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { Refusal, Refusals, TargetDocument } from "../compare/lost/restore-plan.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { isRunId, restoreFolderOf } from "../dump/run-id.js";
import { SkipError } from "../errors.js";
import { problemText } from "../file-error.js";
import { refuseLink } from "../files/files.js";
import type { Draft, Label } from "../job/draft-from-file.js";
import type { Job } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { type OpenService, openService, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import type { Log } from "../log.js";
import { documentKey, type RawRecord } from "../rows/row.js";
import { runJob } from "../run/run-job.js";
import { entriesOf } from "../store/folder/fence.js";
import { makeFolder } from "../store/folder/job-folders.js";
import { lockJob } from "../store/folder/lock.js";

/** A tally that has a place for the dump that is being made. */
export interface DumpProgress {
  /** Undefined while no dump is made. */
  dump: RunProgress | undefined;
}

/**
 * Dumps documents of the target as they stand, into a run of the folder `<dir>/<name>`. `consequence` says in errors what comes of a
 * dump that is not sound, such as `nothing was restored`. Rejects as a run does.
 */
export async function dumpTarget(
  service: TargetService,
  reading: TargetReading,
  progress: DumpProgress,
  consequence: string,
): Promise<Dump> {
  progress.dump = emptyRunProgress();
  try {
    const { folder } = await runJob(targetJob(reading, service), {
      ...runOptionsOf(service),
      progress: progress.dump,
      fresh: true,
    });
    return await openDump(folder, consequence);
  } finally {
    progress.dump = undefined;
  }
}

/** Opens the target for reading. The job of a client must name some documents, and asks for none. */
export async function openTarget(service: TargetService, documents: readonly TargetDocument[]): Promise<OpenService> {
  const job = targetJob({ name: "before", dir: ".", documents, hasChildren: false }, service);
  return openService(job, withDefaults(runOptionsOf(service)));
}

function runOptionsOf({ env, keyEnv, key, signal, log, now }: TargetService) {
  return { env: key === undefined ? env : { ...env, [keyEnv]: key }, signal, log, now };
}

/** The documents that are read of a target, how much of them, and the place of their dump. */
export interface TargetReading {
  /** The name of the job and of its folder: the state before the first write, after the last one, or without any. */
  readonly name: "before" | "after" | "live";
  /** The folder that its folder is in. */
  readonly dir: string;
  readonly documents: readonly TargetDocument[];
  /** Whether any of them has child chunks: then every child list is read. */
  readonly hasChildren: boolean;
  /** Whether settings and metadata values are read, too; false by default. */
  readonly details?: boolean;
  /** Whether the files are saved, too, that the documents were made from; false by default. */
  readonly originals?: boolean;
}

/** The flags that errors name in place of the keys of the job; some keys have none. */
export const targetLabels: readonly Label[] = [
  { path: ["service", "base_url"], text: "--to" },
  { path: ["service", "api_key_env"], text: "--key-env" },
  { path: ["service", "concurrency"], text: "--concurrency" },
  { path: ["service", "max_rps"], text: "--max-rps" },
  { path: ["service", "ca_file"], text: "--ca-file" },
  { path: ["service", "max_body"], text: null },
  { path: ["service", "outage"], text: null },
  { path: ["output", "memory"], text: "--memory" },
];

/** The job that dumps documents of the target. UsageError when an option cannot be used. */
function targetJob(
  { name, dir, documents, hasChildren, details = false, originals = false }: TargetReading,
  { baseUrl, addressFlag = "--to", keyEnv, allowHttp, concurrency, maxRps, memory }: TargetService,
): Job {
  const document = {
    name,
    service: {
      base_url: baseUrl,
      api_key_env: keyEnv,
      allow_http: allowHttp,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(maxRps === undefined ? {} : { max_rps: maxRps }),
    },
    datasets: byDataset(documents),
    child_chunks: hasChildren ? "all" : "auto",
    consistency: "sweeps", // the undo and the proof rely on no premise about the service
    output: { dir, formats: ["jsonl"], memory },
    details,
    originals,
  };
  const draft: Draft = {
    ...{ what: "the command line", document, written: document, unset: [], problems: [] },
    labels: [{ path: ["service", "base_url"], text: addressFlag }, ...targetLabels],
  };
  return jobFromDraft(draft);
}

function byDataset(documents: readonly TargetDocument[]): readonly { id: string; documents: readonly string[] }[] {
  const datasets = new Map<string, string[]>();
  for (const { dataset_id, document_id } of documents) {
    const own = datasets.get(dataset_id) ?? [];
    own.push(document_id);
    datasets.set(dataset_id, own);
  }
  return [...datasets].map(([id, own]) => ({ id, documents: own }));
}

interface RestoreFolderOptions {
  readonly now: () => Date;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The folder of a restore, for as long as no other process takes its place. */
export interface HeldFolder {
  readonly path: string;
  /** Aborted, too, soon after another process took over the lock of this one. */
  readonly signal: AbortSignal;
  /** Rejects with LostError if another process has the lock: a process that was frozen learns of it only by looking. */
  readonly checkOwn: () => Promise<void>;
}

/**
 * Holds the folder of a restore while `work` runs; makes it if there is none. BusyError if another restore of the same run is at work,
 * StopError if a link is in it, or in its place.
 */
export async function withRestoreFolder<T>(
  runFolder: string,
  { now, log, signal }: RestoreFolderOptions,
  work: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
  const folder = restoreFolderOf(runFolder);
  await refuseLinksBeside(runFolder);
  await makeFolder(folder);
  const lost = new AbortController();
  const lock = await lockJob(folder, now(), {
    onLost: (error) => lost.abort(error),
    busy: "another restore of this run is at work",
  });
  const checkOwn = async () => {
    const loss = await lock.lossOf();
    if (loss) throw loss;
  };
  const own = join(folder, `.${lock.owner.id}`);
  await makeFolder(own);
  await removeFolderOf(lock.replaced?.id ?? "", folder);
  try {
    return await work({ path: folder, signal: AbortSignal.any([signal, lost.signal]), checkOwn });
  } finally {
    await lock
      .release(own)
      .catch((error: unknown) => log("warn", `the lock could not be let go: ${problemText(error)}`));
    await rm(own, { recursive: true, force: true });
  }
}

/**
 * Refuses symbolic links in the folder of the restores of a run, and in its place: a run that you received may carry them, and they
 * would lead the journal and the dumps elsewhere. StopError names the first. Changes nothing.
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

/** Whether a link is the one that a run makes to its newest dump, which stays inside the folder. */
async function isLatest(path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => "");
  return basename(path) === "latest" && dirname(target) === "runs" && isRunId(basename(target));
}

/** Removes the folder that a killed restore had of its own. Its id comes from a file: no other text must become a path. */
async function removeFolderOf(id: string, folder: string): Promise<void> {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    await rm(join(folder, `.${id}`), { recursive: true, force: true });
}

/** A folder that is gone at the end of its scope: what only a plan needs is kept nowhere. */
export async function openTemporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "kbdump-restore-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Asks the service for the state of documents. Gives the refusals; documents that may be written are not in the map. An older service
 * that does not tell the state of a document refuses the write itself.
 */
export async function readRefusals(api: KnowledgeApi, documents: readonly TargetDocument[]): Promise<Refusals> {
  const refusals = new Map<string, Refusal>();
  const read = async (document: TargetDocument) => {
    const refusal = await refusalOf(api, document);
    if (refusal !== undefined) refusals.set(documentKey(document), refusal);
  };
  await Promise.all(documents.map(read));
  return refusals;
}

/** Which of some documents the service does not have any more, by their keys. */
export async function readGone(api: KnowledgeApi, documents: readonly TargetDocument[]): Promise<ReadonlySet<string>> {
  const refusals = await readRefusals(api, documents);
  return new Set([...refusals].flatMap(([key, refusal]) => (refusal === gone ? [key] : [])));
}

const gone: Refusal = { reason: "The service has no such document any more.", isReadable: false };

async function refusalOf(api: KnowledgeApi, document: TargetDocument): Promise<Refusal | undefined> {
  try {
    return refusalOfState(await api.document(document.dataset_id, document.document_id));
  } catch (error) {
    if (!(error instanceof SkipError)) throw error;
    return error.code === "not_found" ? gone : undefined;
  }
}

/** Why a document in this state takes no chunks, by what the service says of it; undefined if it takes them. */
function refusalOfState({ indexing_status, enabled, archived }: RawRecord): Refusal | undefined {
  if (typeof indexing_status === "string" && indexing_status !== "completed") {
    const reason = `Its indexing status is ${indexing_status}, and the service takes chunks of completed documents only. Wait for the end of the indexing.`;
    return { reason, isReadable: false };
  }
  if (archived === true) return { reason: "It is archived. Take it out of the archive first.", isReadable: true };
  if (enabled === false) return { reason: "It is disabled. Enable it first.", isReadable: true };
  return undefined;
}

/** The service that is restored to, or compared with, and how to reach it. Errors name the flags that these settings come from. */
export interface TargetService {
  readonly baseUrl: string;
  /** The flag that the base URL comes from, for errors; `--to` by default. */
  readonly addressFlag?: string;
  /** The variable that the key comes from, for messages and for the dumps of the target. */
  readonly keyEnv: string;
  /** The key; undefined only where nothing is asked of the service. */
  readonly key: string | undefined;
  readonly allowHttp: boolean;
  readonly concurrency: number | undefined;
  readonly maxRps: number | undefined;
  /** Memory for DuckDB, as DuckDB reads it. */
  readonly memory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly now: () => Date;
}
