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
interface GuardedDocument extends TargetDocument {
  readonly before: IndexingState;
}

type IndexingState = Awaited<ReturnType<typeof readState>>;

/** The documents to guard, and the backup job: the owner's job, limited to these documents, with JSONL and details. */
export interface Guarded {
  readonly job: Job;
  readonly documents: readonly GuardedDocument[];
}

/**
 * Finds the documents to guard, and reads their indexing state to detect later whether they were re-indexed. Also reads one with
 * the key that later writes. Throws UsageError if the job has no such document, or if one is not indexed; StopError if the
 * service refuses a key.
 */
export async function prepareGuard(
  owners: Job,
  ids: readonly string[],
  writeKeyEnv: string,
  options: RunOptions,
): Promise<Guarded> {
  await using service = await openService(owners, withDefaults(options));
  const datasets = await findDatasets(service.client, owners, ids);
  const named = datasets.flatMap(({ id, documents }) => documents.map((each) => [id, each] as const));
  const documents = await Promise.all(named.map(([set, id]) => readBefore(service.client, set, id)));
  const job = guardJob(owners, datasets);
  const writing = { ...job.service, apiKeyEnv: writeKeyEnv, apiKeyFile: undefined, apiKeyCommand: undefined };
  await using opened = await openService({ ...job, service: writing }, withDefaults(options));
  if (documents[0]) await readState(opened.client, documents[0]);
  return { job, documents };
}

/** The datasets of a job with only the named documents. Throws UsageError if it lacks one. */
async function findDatasets(api: KnowledgeApi, job: Job, ids: readonly string[]) {
  const { datasets } = await discoverDocuments(api, job);
  const found = datasets.map((dataset) => {
    const documents = dataset.documents.filter((id) => ids.includes(id.toLowerCase()));
    return { ...dataset, documents, status: [], keyword: undefined };
  });
  const known = new Set(found.flatMap(({ documents }) => documents.map((id) => id.toLowerCase())));
  const problems = ids
    .filter((id) => !known.has(id))
    .map((id) => ({ path: "--document", message: `the job ${job.name} has no document ${id}` }));
  if (problems.length > 0) throw new UsageError(`${countOf(problems.length, "document")} cannot be guarded:`, problems);
  return found.filter(({ documents }) => documents.length > 0);
}

function guardJob(job: Job, datasets: Job["datasets"]): Job {
  return {
    ...job,
    name: guardName(job.name),
    datasets,
    childChunks: job.childChunks === "none" ? "auto" : job.childChunks,
    ...{ consistency: "sweeps", details: true, originals: false },
    output: {
      ...job.output,
      ...{ formats: ["jsonl"], keep: undefined, csvSafe: false, partition: "none", metricsFile: undefined },
    },
    ...{ notify: undefined, shard: undefined, documentsFrom: undefined },
  };
}

/** `nightly-guard`, shortened if the job name would be too long. */
export function guardName(name: string): string {
  const guarded = `${name.slice(0, 100 - guardEnding.length)}${guardEnding}`;
  return isJobName(guarded) ? guarded : `guard${guardEnding}`;
}

async function readBefore(api: KnowledgeApi, dataset_id: string, document_id: string): Promise<GuardedDocument> {
  const cannot = (message: string) =>
    new UsageError(`document ${document_id} cannot be guarded:`, [{ path: "--document", message }]);
  const before = await readState(api, { dataset_id, document_id }).catch((error: unknown) => {
    throw error instanceof SkipError ? cannot(error.message) : error;
  });
  if (before.status !== "completed" || before.completedAt === null)
    throw cannot(`its indexing is ${before.status}; wait until it is completed`);
  return { dataset_id, document_id, before };
}

/** The first document that was re-indexed since it was read, or is being indexed; undefined if there is none. */
export async function findChanged({ job, documents }: Guarded, options: RunOptions) {
  await using service = await openService(job, withDefaults(options));
  for (const document of documents) {
    const { status, completedAt } = await readState(service.client, document);
    if (status !== "completed" || completedAt !== document.before.completedAt) return document;
  }
  return undefined;
}

/** The progress of the re-index. `done`: indexed again. `begun`: not completed now: waiting, indexing or paused. */
export interface ReindexProgress {
  done: number;
  begun: number;
  readonly of: number;
}

interface WaitOptions extends Required<Pick<RunOptions, "env" | "signal">> {
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly progress: ReindexProgress;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Waits until every document was re-indexed. Keeps waiting through outages of the service. Throws StopError if a document is gone,
 * or the key is refused; rejects with the reason of the signal.
 */
export async function waitForReindex(
  { job, documents }: Guarded,
  { interval, progress, sleep, signal, env }: WaitOptions,
): Promise<void> {
  await using service = await openService(job, withDefaults({ env, signal, log: () => {} }), { patient: true });
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

/** Rejects with SkipError if the service does not return the document. */
async function readState(api: Pick<KnowledgeApi, "document">, { dataset_id, document_id }: TargetDocument) {
  const { indexing_status, completed_at } = await api.document(dataset_id, document_id);
  /** `status`: waiting, indexing, completed and other values. `completedAt`: Unix seconds; null until its indexing is completed. */
  return { status: textIn(indexing_status) ?? "unknown", completedAt: numberIn(completed_at) };
}
