import type { KnowledgeApi } from "../client/knowledge-api.js";
import { groupRows } from "../compare/document-rows.js";
import type { Refusal, Refusals, TargetDocument } from "../compare/lost/restore-plan.js";
import type { LivePair } from "../compare/proof/proof-pairs.js";
import type { Manifest } from "../dump/manifest.js";
import { type Dump, openDump } from "../dump/open-dump.js";
import { type Problem, SkipError } from "../errors.js";
import type { Draft, Label } from "../job/draft-from-file.js";
import type { Job } from "../job/job.js";
import { jobFromDraft } from "../job/load-job.js";
import { type OpenService, openService, withDefaults } from "../job/open-service.js";
import { emptyRunProgress, type RunProgress } from "../job/run-progress.js";
import type { Log } from "../log.js";
import { documentKey, type RawRecord } from "../rows/row.js";
import { runJob } from "../run/run-job.js";
import { cutText, escapeControls } from "../safe-text.js";

/** Progress that includes the progress of a dump. */
export interface DumpProgress {
  /** Undefined if no dump is in progress. */
  dump: RunProgress | undefined;
}

/** How a message about a damaged dump ends, by the name of its reading (`TargetReading.name`). */
const consequences = { before: "nothing was restored", after: "nothing was proved", live: "nothing was compared" };

/** Dumps the current documents of the target, into a run of the folder `<dir>/<name>`. Rejects like a run. */
export async function dumpTarget(
  service: TargetService,
  reading: TargetReading,
  progress: DumpProgress,
): Promise<Dump> {
  progress.dump = emptyRunProgress();
  try {
    const options = { ...runOptionsOf(service), progress: progress.dump, fresh: true };
    const { folder } = await runJob(targetJob(reading, service), options);
    return await openDump(folder, consequences[reading.name]);
  } finally {
    progress.dump = undefined;
  }
}

/** Opens the target for reading. A client's job must name some documents, but nothing is requested. */
export async function openTarget(service: TargetService, documents: readonly TargetDocument[]): Promise<OpenService> {
  const job = targetJob({ name: "before", dir: ".", documents, hasChildren: false }, service);
  return openService(job, withDefaults(runOptionsOf(service)));
}

function runOptionsOf({ env, keyEnv, key, signal, log, now }: TargetService) {
  return { env: key === undefined ? env : { ...env, [keyEnv]: key }, signal, log, now };
}

/** Which documents of a target to read, how much of them, and where to dump them. */
export interface TargetReading {
  /** The name of the job and its folder: the dump is made `before` or `after` the writes, or without writes (`live`). */
  readonly name: keyof typeof consequences;
  readonly dir: string;
  readonly documents: readonly TargetDocument[];
  /** Whether any of them has child chunks: then every child list is read. */
  readonly hasChildren: boolean;
  /** Which settings and metadata values to read too, as in the job file; default: false. */
  readonly details?: Job["details"];
}

/** The flags that errors name instead of job keys; some keys have none. */
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

/** The job that dumps documents of the target. Throws UsageError if an option cannot be used. */
function targetJob(
  { name, dir, documents, hasChildren, details = false }: TargetReading,
  { baseUrl, addressFlag = "--to", keyEnv, allowHttp, concurrency, maxRps, memory }: TargetService,
): Job {
  const pace = {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxRps === undefined ? {} : { max_rps: maxRps }),
  };
  const document = {
    name,
    service: { base_url: baseUrl, api_key_env: keyEnv, allow_http: allowHttp, ...pace },
    datasets: [...groupRows(documents, ({ dataset_id }) => dataset_id)].map(([id, own]) => {
      return { id, documents: own.map(({ document_id }) => document_id) };
    }),
    child_chunks: hasChildren ? "all" : "auto",
    consistency: "sweeps", // undo and proof must not rely on assumptions about the service
    output: { dir, formats: ["jsonl"], memory },
    details,
  };
  const draft: Draft = {
    ...{ what: "the command line", document, written: document, unset: [], problems: [] },
    labels: [{ path: ["service", "base_url"], text: addressFlag }, ...targetLabels],
  };
  return jobFromDraft(draft);
}

/** Finds the documents that the service would not let us write to. An older service shows this only when we write. */
export async function readRefusals(api: KnowledgeApi, documents: readonly TargetDocument[]): Promise<Refusals> {
  const refusals = new Map<string, Refusal>();
  const read = async (document: TargetDocument) => {
    const refusal = await api.document(document.dataset_id, document.document_id).then(refusalOf, (error: unknown) => {
      if (!(error instanceof SkipError)) throw error;
      return error.code === "not_found" ? gone : undefined;
    });
    if (refusal !== undefined) refusals.set(documentKey(document), refusal);
  };
  await Promise.all(documents.map(read));
  return refusals;
}

/**
 * Dumps the documents to compare to `<dir>/<name>`, and returns the dump and the pairs that it has. `gone`: pairs whose document the
 * service no longer has. `dump` is undefined if all of them are gone. Rejects like a run.
 */
export async function readLive(
  api: KnowledgeApi,
  service: TargetService,
  { pairs: all, ...reading }: Omit<TargetReading, "documents"> & { readonly pairs: readonly LivePair[] },
  progress: DumpProgress,
) {
  const live = all.map((pair) => pair.live);
  const refusals = await readRefusals(api, live);
  const isGone = ({ live }: LivePair) => refusals.get(documentKey(live)) === gone;
  const pairs = all.filter((pair) => !isGone(pair));
  const documents = pairs.map(({ live }) => live);
  const dump = documents.length > 0 ? await dumpTarget(service, { ...reading, documents }, progress) : undefined;
  return { dump, pairs, gone: all.filter(isGone) };
}

/** Whether two base URLs have the same host and port, so that file ids are the same. */
export function isSameService(one: string, other: string): boolean {
  const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);
  return originOf(one) === originOf(other);
}

/** An id for messages: escaped and shortened. */
export function shownId(id: string): string {
  return cutText(escapeControls(id), 80);
}

/** The problems of documents that the owner named, and a run lacks. */
export function unknownDocuments({ documents }: Manifest, ids: readonly string[]): readonly Problem[] {
  const there = new Set(documents.map(({ document_id }) => document_id));
  return ids
    .filter((id) => !there.has(id))
    .map((id) => ({ path: "--document", message: `the run has no document ${shownId(id)}` }));
}

export function haveChildren({ manifest }: Dump, documents: readonly TargetDocument[]): boolean {
  const ids = new Set(documents.map(({ document_id }) => document_id));
  return manifest.documents.some(({ document_id, child_chunk_count }) => child_chunk_count > 0 && ids.has(document_id));
}

const gone: Refusal = {
  reason: "The service has no such document any more. kbdump copy makes it again, from a run with details: true.",
  isReadable: false,
};

/** Undefined if the document accepts chunks. */
function refusalOf({ indexing_status, enabled, archived }: RawRecord): Refusal | undefined {
  if (typeof indexing_status === "string" && indexing_status !== "completed") {
    const reason = `Its indexing status is ${indexing_status}, and the service accepts chunks only for completed documents. Wait for the end of the indexing.`;
    return { reason, isReadable: false };
  }
  if (archived === true) return { reason: "It is archived. Take it out of the archive first.", isReadable: true };
  if (enabled === false) return { reason: "It is disabled. Enable it first.", isReadable: true };
  return undefined;
}

/** The service to restore to or compare with, and how to reach it. Errors name the flags of these settings. */
export interface TargetService {
  readonly baseUrl: string;
  /** The flag of the base URL, for errors; default: `--to`. */
  readonly addressFlag?: string;
  /** The variable with the key, for messages and for the dumps of the target. */
  readonly keyEnv: string;
  /** The key; undefined only if no request is sent. */
  readonly key: string | undefined;
  readonly allowHttp: boolean;
  readonly concurrency: number | undefined;
  readonly maxRps: number | undefined;
  /** Maximum memory of DuckDB, in its notation. */
  readonly memory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly now: () => Date;
}
