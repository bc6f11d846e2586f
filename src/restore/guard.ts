import type { KnowledgeApi } from "../client/knowledge-api.js";
import type { TargetDocument } from "../compare/lost/restore-plan.js";
import { discoverDocuments } from "../crawl/discover-documents.js";
import { SkipError, StopError, UsageError } from "../errors.js";
import { type Job, jobName } from "../job/job.js";
import { openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { documentKey } from "../rows/row.js";
import { countOf } from "../words.js";

/** A document that is guarded, as it stood right before its backup. */
export interface GuardedDocument extends TargetDocument {
  readonly before: IndexingState;
}

/** What tells whether a document was indexed again. */
export interface IndexingState {
  /** waiting, indexing, completed and others; null where the service does not say. */
  readonly status: string | null;
  /** When its indexing was completed, in Unix seconds. */
  readonly completedAt: number | null;
  /** The id of its first chunk, which is another one after each indexing. */
  readonly firstChunk: string | null;
}

/** How far the documents are. */
export interface ReindexProgress {
  /** Documents that are indexed again, and those whose indexing has begun. */
  done: number;
  begun: number;
  of: number;
}

/**
 * The job that backs up the guarded documents: the one of the owner, with these documents, into a job folder of its own, as JSONL with
 * details. UsageError where the job has no such document.
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
  if (missing.length > 0) {
    const problems = missing.map((id) => ({
      path: "--document",
      message: `the job ${job.name} has no document ${id}`,
    }));
    throw new UsageError(`${countOf(missing.length, "document")} cannot be guarded:`, problems);
  }
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

/** `nightly-guard`, cut where a name of a job may not be so long. */
export function guardName(name: string): string {
  const [ending, most] = ["-guard", 100];
  const guarded = `${name.slice(0, most - ending.length)}${ending}`;
  return jobName.test(guarded) ? guarded : `guard${ending}`;
}

/** Reads how the documents of a job stand, to know later whether they were indexed again. UsageError where one cannot be read. */
export async function readGuarded(job: Job, options: RunOptions): Promise<readonly GuardedDocument[]> {
  await using service = await openService(job, withDefaults(options));
  const { client } = service;
  const documents = job.datasets === "all" ? [] : job.datasets.flatMap(documentsOf);
  return await Promise.all(
    documents.map(async (document) => {
      const before = await readState(client, document).catch((error: unknown) => {
        if (!(error instanceof SkipError)) throw error;
        const problem = { path: "--document", message: error.message };
        throw new UsageError(`document ${document.document_id} cannot be guarded:`, [problem]);
      });
      return { ...document, before };
    }),
  );
}

function documentsOf({ id, documents }: Exclude<Job["datasets"], "all">[number]): readonly TargetDocument[] {
  return documents === "all" ? [] : documents.map((document_id) => ({ dataset_id: id, document_id }));
}

interface WaitOptions {
  /** Milliseconds between two looks. */
  readonly interval: number;
  readonly progress: ReindexProgress;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/**
 * Waits until every document was indexed again. A service that is away for a while is waited for. StopError where a document is gone, or
 * the key is refused; rejects with the reason of the signal.
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
        if (error.status !== 404) return undefined; // the next look may find it
        const gone = `document ${document.document_id} is gone: it was deleted, not indexed again`;
        throw new StopError(gone, { cause: error });
      });
      if (now && isReindexed(document.before, now)) done.add(documentKey(document));
      else if (now && !isResting(now)) begun++;
    }
    Object.assign(progress, { done: done.size, begun, of: documents.length });
    if (done.size === documents.length) return;
    await sleep(interval, signal).catch(() => signal.throwIfAborted());
  }
}

/** Whether a document was indexed again in the meantime, and that is over. */
export function isReindexed(before: IndexingState, now: IndexingState): boolean {
  if (!isResting(now)) return false;
  if (before.completedAt !== null && now.completedAt !== null) return before.completedAt !== now.completedAt;
  return before.firstChunk !== now.firstChunk;
}

/** Whether a document is not being indexed. */
export function isResting({ status }: Pick<IndexingState, "status">): boolean {
  return status === null || status === "completed" || status === "error";
}

/** Older services give no details of a document: then its first chunk tells. Rejects with SkipError where its chunks cannot be read. */
async function readState(
  api: Pick<KnowledgeApi, "document" | "chunks">,
  { dataset_id: datasetId, document_id: documentId }: TargetDocument,
): Promise<IndexingState> {
  const page = await api.chunks({ datasetId, documentId, status: [], keyword: undefined }, 1, 1);
  const details = await api.document(datasetId, documentId).catch((error: unknown) => {
    if (error instanceof SkipError) return undefined;
    throw error;
  });
  const { indexing_status: status, completed_at: completedAt } = {
    indexing_status: null,
    completed_at: null,
    ...details,
  };
  return {
    status: typeof status === "string" ? status : null,
    completedAt: typeof completedAt === "number" ? completedAt : null,
    firstChunk: page.rows[0]?.id ?? null,
  };
}
