import type { KnowledgeApi } from "../client/knowledge-api.js";
import { numberIn, textIn } from "../compare/document-rows.js";
import type { TargetDocument } from "../compare/lost/restore-plan.js";
import { discoverDocuments } from "../crawl/discover-documents.js";
import { guardEnding } from "../dump/run-id.js";
import { SkipError, StopError, UsageError } from "../errors.js";
import { isJobName, type Job } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";

/** A guarded document, as it was right before its backup. */
export interface GuardedDocument extends TargetDocument {
  readonly before: IndexingState;
}

type IndexingState = Awaited<ReturnType<typeof readState>>;

/** The progress of the re-index. */
export interface ReindexProgress {
  /** Documents that were re-indexed, and those whose indexing has begun. */
  done: number;
  begun: number;
  readonly of: number;
}

/**
 * The job that backs up the guarded documents: the owner's job with only these documents, in its own job folder, as JSONL with
 * details. Throws UsageError if the job has no such document.
 */
export async function guardJob(job: Job, documents: readonly string[], options: RunOptions): Promise<Job> {
  await using service = await openService(job, withDefaults(options));
  const { datasets } = await discoverDocuments(service.client, job);
  const wanted = new Set(documents);
  const found = datasets.map((dataset) => ({
    ...dataset,
    documents: dataset.documents.filter((id) => wanted.has(id.toLowerCase())),
    status: [],
    keyword: undefined,
  }));
  const known = new Set(found.flatMap((dataset) => dataset.documents.map((id) => id.toLowerCase())));
  const missing = documents.filter((id) => !known.has(id));
  const problems = missing.map((id) => ({ path: "--document", message: `the job ${job.name} has no document ${id}` }));
  if (problems.length > 0) throw new UsageError(`${countOf(problems.length, "document")} cannot be guarded:`, problems);
  const { output } = job;
  return {
    ...job,
    name: guardName(job.name),
    datasets: found.filter((dataset) => dataset.documents.length > 0),
    childChunks: job.childChunks === "none" ? "auto" : job.childChunks,
    consistency: "sweeps",
    details: true,
    originals: false,
    output: {
      ...output,
      formats: ["jsonl"],
      keep: undefined,
      csvSafe: false,
      partition: "none",
      metricsFile: undefined,
    },
    notify: undefined,
    shard: undefined,
    documentsFrom: undefined,
  };
}

/** `nightly-guard`, shortened if the job name would be too long. */
export function guardName(name: string): string {
  const guarded = `${name.slice(0, 100 - guardEnding.length)}${guardEnding}`;
  return isJobName(guarded) ? guarded : `guard${guardEnding}`;
}

/**
 * Reads the indexing state of a job's documents, to detect later whether they were re-indexed. Throws UsageError if the service
 * does not report it for a document, or if a document is not indexed.
 */
export async function readGuarded(job: Job, options: RunOptions): Promise<readonly GuardedDocument[]> {
  await using service = await openService(job, withDefaults(options));
  const read = async (dataset_id: string, document_id: string): Promise<GuardedDocument> => {
    const cannot = (message: string) =>
      new UsageError(`document ${document_id} cannot be guarded:`, [{ path: "--document", message }]);
    const before = await readState(service.client, { dataset_id, document_id }).catch((error: unknown) => {
      throw error instanceof SkipError ? cannot(error.message) : error;
    });
    if (before.status !== "completed" || before.completedAt === null)
      throw cannot(`its indexing is ${before.status}; wait until it is completed`);
    return { dataset_id, document_id, before };
  };
  const datasets = job.datasets === "all" ? [] : job.datasets;
  return await Promise.all(
    datasets.flatMap(({ id, documents }) => (documents === "all" ? [] : documents.map((each) => read(id, each)))),
  );
}

/** Reads a document with the key that later writes. Throws StopError if the service refuses that key. */
export async function checkKey(
  job: Job,
  [document]: readonly GuardedDocument[],
  apiKeyEnv: string,
  options: RunOptions,
): Promise<void> {
  if (!document) return;
  const service = { ...job.service, apiKeyEnv, apiKeyFile: undefined, apiKeyCommand: undefined };
  await using opened = await openService({ ...job, service }, withDefaults(options));
  await readState(opened.client, document);
}

/** The first document that was re-indexed since it was read, or is being indexed; undefined if there is none. */
export async function findChanged(
  job: Job,
  documents: readonly GuardedDocument[],
  options: RunOptions,
): Promise<GuardedDocument | undefined> {
  await using service = await openService(job, withDefaults(options));
  for (const document of documents) {
    const { status, completedAt } = await readState(service.client, document);
    if (status !== "completed" || completedAt !== document.before.completedAt) return document;
  }
  return undefined;
}

interface WaitOptions {
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly progress: ReindexProgress;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/**
 * Waits until every document was re-indexed. Keeps waiting through outages of the service. Throws StopError if a document is gone,
 * or the key is refused; rejects with the reason of the signal.
 */
export async function waitForReindex(
  job: Job,
  documents: readonly GuardedDocument[],
  { interval, progress, sleep, signal }: WaitOptions,
  options: RunOptions,
): Promise<void> {
  await using service = await openService(job, withDefaults({ ...options, signal, log: () => {} }), { patient: true });
  const done = new Set<string>();
  for (;;) {
    let begun = 0;
    for (const document of documents) {
      if (done.has(documentKey(document))) continue;
      const now = await readState(service.client, document).catch((error: unknown) => {
        if (!(error instanceof SkipError)) throw error;
        if (error.code !== "not_found") return undefined; // the next check may find it
        const gone = `document ${document.document_id} is gone: it was deleted, not indexed again`;
        throw new StopError(gone, { cause: error });
      });
      if (now && isReindexed(document.before, now)) done.add(documentKey(document));
      else if (now && now.status !== "completed") begun++;
    }
    Object.assign(progress, { done: done.size, begun });
    if (done.size === documents.length) return;
    await sleep(interval, signal).catch(() => signal.throwIfAborted());
  }
}

/** Whether a document was indexed again since `before`, and that indexing has ended. */
export function isReindexed(before: IndexingState, now: IndexingState): boolean {
  if (now.status === "error") return true;
  return now.status === "completed" && (now.completedAt ?? 0) > (before.completedAt ?? 0);
}

/** The facts that show whether a document was re-indexed. Rejects with SkipError if the service does not return the document. */
async function readState(api: Pick<KnowledgeApi, "document">, { dataset_id, document_id }: TargetDocument) {
  const { indexing_status, completed_at } = await api.document(dataset_id, document_id);
  /** `status`: waiting, indexing, completed and other values. `completedAt`: Unix seconds; null until its indexing is completed. */
  return { status: textIn(indexing_status) ?? "unknown", completedAt: numberIn(completed_at) };
}
