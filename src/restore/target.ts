import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { Refusal, Refusals, TargetDocument } from "../compare/lost/restore-plan.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { SkipError } from "../errors.js";
import type { Draft, Label } from "../job/draft-from-file.js";
import type { Job } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { type OpenService, openService, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import type { Log } from "../log.js";
import { documentKey, type RawRecord } from "../rows/row.js";
import { runJob } from "../run/run-job.js";

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
  /** Whose settings and metadata values are read, too, as in the job file; false by default. */
  readonly details?: Job["details"];
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
  { name, dir, documents, hasChildren, details = false }: TargetReading,
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

/** A document of a dump, and the one at the service that it is compared with: the same, or its copy. */
export interface DocumentPair {
  readonly old: TargetDocument;
  readonly live: TargetDocument;
}

/** The documents of a service as they stand. */
interface Live {
  /** Undefined where the service has none of them. */
  readonly dump: Dump | undefined;
  /** Those that the service has. */
  readonly pairs: readonly DocumentPair[];
  /** Those that it does not have any more. */
  readonly gone: readonly DocumentPair[];
}

/** Dumps the documents of a service that are to be compared with those of a dump, to `<dir>/<name>`. Rejects as a run does. */
export async function readLive(
  api: KnowledgeApi,
  service: TargetService,
  { pairs, ...reading }: Omit<TargetReading, "documents"> & { readonly pairs: readonly DocumentPair[] },
  progress: DumpProgress,
): Promise<Live> {
  const refusals = await readRefusals(
    api,
    pairs.map(({ live }) => live),
  );
  const isGone = ({ live }: DocumentPair) => refusals.get(documentKey(live)) === gone;
  const left = pairs.filter((pair) => !isGone(pair));
  const documents = left.map(({ live }) => live);
  const consequence = reading.name === "after" ? "nothing was proved" : "nothing was compared";
  const dump =
    left.length > 0 ? await dumpTarget(service, { ...reading, documents }, progress, consequence) : undefined;
  return { dump, pairs: left, gone: pairs.filter(isGone) };
}

/** Whether some documents of a dump have child chunks in it. */
export function haveChildren({ manifest }: Dump, documents: readonly TargetDocument[]): boolean {
  const ids = new Set(documents.map(({ document_id }) => document_id));
  return manifest.documents.some(({ document_id, child_chunk_count }) => child_chunk_count > 0 && ids.has(document_id));
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
