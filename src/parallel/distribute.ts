import { randomUUID } from "node:crypto";
import { type Discovery, type DocumentToRead, documentsOf } from "../crawl/discovery.js";
import { documentListFrom, documentListText } from "../crawl/document-list.js";
import type { Manifest } from "../dump/manifest.js";
import type { Job } from "../job/job.js";
import { documentKey } from "../rows/row.js";
import { namesOfBegun } from "../segments/shared-segments.js";
import { noteDistributed, planHash } from "../store/earlier-work.js";
import { runBefore } from "../store/workspace.js";
import { tool } from "../tool.js";
import { countOf } from "../words.js";
import { type ExchangePlan, listFile, listHash, planFile, readPlan } from "./accept-document.js";
import type { OpenBounds } from "./bounds/open-shared-bounds.js";
import { type Broker, openBroker } from "./broker.js";
import { type DistributeOptions, OpenDocuments } from "./open-documents.js";
import { Supervision } from "./supervision.js";
import { openBounds, WorkersProgress } from "./workers-progress.js";

/**
 * Lets workers read the documents of a run, and takes over what they read whole, as if this process had read it and been killed. Resolves
 * when nothing is left for them: documents that no worker could read whole are left to the caller, and all that are left where no worker
 * sends a heartbeat for `service.outage`, or 10 s if that is less. An interrupted run leaves the exchange to the next one, which takes over what is there.
 */
export async function distribute(discovery: Discovery, options: DistributeOptions): Promise<void> {
  const { job, workspace, progress, log, exchange, list } = options;
  const placed = documentsOf(discovery);
  const begun = await namesOfBegun(workspace.segments); // an earlier process read these, or began to
  const left = placed.filter(({ name }) => !begun.has(name));
  const ordered = orderBySize(left, discovery, await runBefore(workspace, job.name));
  progress.documents = placed.length;
  progress.documentsDone = placed.length - left.length;
  progress.documentsFound = progress.documentsDone;
  const workersProgress = new WorkersProgress(progress);
  if (ordered.length > 0) {
    const { runId } = workspace;
    const documents = documentListText(documentListFrom(discovery));
    const plan: ExchangePlan = {
      run_id: runId,
      queue_id: (await readPlan(exchange))?.queue_id ?? `${runId}-${randomUUID().slice(0, 8)}`,
      plan: planHash(job, list),
      version: tool.version,
      list: list ?? null,
      list_sha256: listHash(documents),
    };
    const announce = async () => {
      await exchange.write(listFile, documents);
      await exchange.write(planFile, JSON.stringify(plan));
    };
    await announce();
    await noteDistributed(workspace.work);
    log("info", `handing out ${countOf(ordered.length, "document")} to workers`);
    const supervision = new Supervision(new OpenDocuments(ordered), workersProgress, plan, { ...options, announce });
    try {
      await supervision.run();
    } finally {
      await supervision.close();
    }
  }
  workersProgress.takeBack();
  await exchange.remove();
}

/** The broker of a run that distributes its documents, and the bounds that it shares with its workers. */
export interface Workers extends AsyncDisposable {
  readonly broker: Broker;
  readonly shared: OpenBounds;
}

/** Opens the broker of a run with workers, and the bounds that it shares with them. */
export async function openWorkers(url: string, job: Job, context: Parameters<typeof openBounds>[2]): Promise<Workers> {
  const broker = await openBroker(url);
  const shared = openBounds(broker, job, context);
  const close = async () => {
    await shared.close();
    broker.close();
  };
  return { broker, shared, [Symbol.asyncDispose]: close };
}

/** Characters of a chunk, about: they make sizes of two sources comparable. */
const charactersOfChunk = 500;

/**
 * The documents, largest first, so that no large one is left to the end: by the characters that the list of the service reports, or else by
 * the chunks of the run before. Those of unknown size come last, in their order.
 */
export function orderBySize(
  placed: readonly DocumentToRead[],
  { found }: Discovery,
  before: Pick<Manifest, "documents"> | undefined,
): readonly DocumentToRead[] {
  const sizes = new Map<string, number>();
  for (const row of before?.documents ?? []) sizes.set(documentKey(row), row.chunk_count * charactersOfChunk);
  for (const row of found?.rows ?? []) {
    const words = Number(row.word_count ?? Number.NaN);
    if (Number.isFinite(words)) sizes.set(documentKey(row), words);
  }
  const sizeOf = ({ ref: { datasetId, documentId } }: DocumentToRead) =>
    sizes.get(documentKey({ dataset_id: datasetId, document_id: documentId })) ?? -1;
  return [...placed].sort((one, other) => sizeOf(other) - sizeOf(one));
}
