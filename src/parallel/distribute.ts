import { type Discovery, type DocumentToRead, documentsOf } from "../crawl/discovery.js";
import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";
import type { RunProgress } from "../job/run-progress.js";
import type { Log } from "../log.js";
import { documentKey } from "../rows/row.js";
import { noteDistributed, planHash } from "../segments/earlier-work.js";
import { namesOfBegun } from "../segments/shared-segments.js";
import { runBefore } from "../store/folder/job-folders.js";
import { tool } from "../tool.js";
import { countOf } from "../words.js";
import { openBroker } from "./broker.js";
import { Coordinator, type CoordinatorOptions, type Workers } from "./coordinator.js";
import { DocumentBatches } from "./document-batches.js";
import { planFile } from "./exchange.js";
import { DocumentQueue } from "./queue.js";
import { planText } from "./run-plan.js";
import { WorkersProgress } from "./workers-progress.js";

/** Opens the broker of a run. Resolves when no worker sends requests for an earlier run any more. */
export async function openWorkers(
  url: string,
  job: Job,
  options: { readonly log: Log; readonly signal: AbortSignal },
): Promise<Workers> {
  const broker = await openBroker(url);
  const queue = await DocumentQueue.open(broker, job, options).catch((error: unknown) => {
    broker.close();
    options.signal.throwIfAborted();
    throw broker.unusable(error);
  });
  options.log("info", "concurrency and max_rps apply to this run and its workers together, not for other runs");
  return { broker, queue, [Symbol.asyncDispose]: async () => broker.close() };
}

/** The run whose documents are distributed to workers. */
interface DistributeOptions extends Omit<CoordinatorOptions, "open" | "workersProgress" | "run"> {
  readonly progress: RunProgress;
  /** The hash of the given list of documents; undefined if the run asked the service. */
  readonly list: string | undefined;
}

/**
 * Lets workers read the documents of a run, and accepts their complete results, as if an earlier process had read them. Resolves
 * when workers have nothing left. The caller then reads documents that no worker could read completely, and all remaining ones if no
 * worker sends a heartbeat for `service.outage`, or for 10 s if that is longer. An interrupted run leaves the exchange to the next one,
 * which resumes it.
 */
export async function distribute(discovery: Discovery, options: DistributeOptions): Promise<void> {
  const { job, workspace, progress, log, exchange, list } = options;
  const placed = documentsOf(discovery);
  const begun = await namesOfBegun(workspace.segments); // documents that an earlier process read or began to read
  const left = placed.filter(({ name }) => !begun.has(name));
  const sizeOf = sizesOf(discovery, await runBefore(workspace, job.name));
  const ordered = left.toSorted((one, other) => (sizeOf(other) ?? -1) - (sizeOf(one) ?? -1)); // largest first
  progress.documents = placed.length;
  if (ordered.length > 0) {
    progress.documentsDone = placed.length - left.length;
    progress.documentsFound = progress.documentsDone;
    const run = { run_id: workspace.runId, plan: planHash(job, list), version: tool.version, list: list ?? null };
    await exchange.write(planFile, planText(run));
    await noteDistributed(workspace.work);
    log("info", `handing out ${countOf(ordered.length, "document")} to workers`);
    const { concurrency } = job.service;
    const open = new DocumentBatches(ordered, concurrency, (document) => requestsFor(sizeOf(document), job));
    const workersProgress = new WorkersProgress(progress, (name) => open.get(name) !== undefined);
    const coordinator = new Coordinator({ ...options, open, workersProgress, run });
    try {
      await coordinator.run();
    } finally {
      await coordinator.close();
    }
    workersProgress.takeBack();
  }
  await exchange.remove();
}

/** Approximate characters per chunk, to compare sizes from two sources. */
const charactersOfChunk = 500;

/**
 * The size of a document in characters, from the service's list, otherwise estimated from the chunks in the previous run; undefined if
 * neither has it.
 */
export function sizesOf(
  { found }: Pick<Discovery, "found">,
  before: Pick<Manifest, "documents"> | undefined,
): (document: Pick<DocumentToRead, "ref">) => number | undefined {
  const sizes = new Map<string, number>();
  for (const row of before?.documents ?? []) sizes.set(documentKey(row), row.chunk_count * charactersOfChunk);
  for (const row of found?.rows ?? []) {
    const words = Number(row.word_count ?? Number.NaN);
    if (Number.isFinite(words)) sizes.set(documentKey(row), words);
  }
  return ({ ref: { datasetId, documentId } }) =>
    sizes.get(documentKey({ dataset_id: datasetId, document_id: documentId }));
}

/** The approximate number of requests for a document of this size. */
function requestsFor(size: number | undefined, { childChunks }: Job): number | undefined {
  const chunks = size === undefined ? undefined : Math.ceil(size / charactersOfChunk);
  return chunks && chunks / 100 + (childChunks === "all" ? chunks : 0);
}
