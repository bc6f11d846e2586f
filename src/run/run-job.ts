import type { Discovery } from "../crawl/discovery.js";
import { readGivenList } from "../crawl/document-list-file.js";
import { workError } from "../errors.js";
import { sayDiskError } from "../file-error.js";
import type { Job } from "../job/job.js";
import { type OpenService, openService, type RunOptions, withDefaults } from "../job/open-service.js";
import { distribute, openWorkers } from "../parallel/distribute.js";
import { ownExchange } from "../parallel/open-exchange.js";
import type { DocumentQueue } from "../parallel/queue.js";
import { keepRequestSum } from "../segments/request-sum.js";
import type { Workspace } from "../store/lease.js";
import { finishRun, type Gathered, isDatabaseLeft, type PreparedRun, prepareRun, type RunResult } from "./make-run.js";
import { type Kept, openWorkspace } from "./open-workspace.js";
import { type ReadAllOptions, readEverything } from "./read-everything.js";
import { OutcomeReport } from "./report-outcome.js";

type Context = Required<RunOptions>;

/**
 * Runs a job: reads its documents, writes the formats and publishes them. Throws StopError (nothing is published), UsageError (no
 * key, or the wrong list of documents), BusyError, or the reason of `options.signal`. Sends the job's notifications and writes its
 * metrics.
 */
export async function runJob(job: Job, options: RunOptions = {}): Promise<RunResult> {
  const context = withDefaults(options);
  const outcome = new OutcomeReport(job, context);
  try {
    const result = await readAndPublish(job, context, outcome);
    await outcome.succeeded(result);
    return result;
  } catch (thrown) {
    const error = sayDiskError(workError(thrown), job.output.dir, context.progress.step);
    await outcome.failed(error);
    throw error;
  }
}

async function readAndPublish(job: Job, context: Context, outcome: OutcomeReport): Promise<RunResult> {
  const list = job.documentsFrom === undefined ? undefined : await readGivenList(job.documentsFrom, job);
  await using queue = context.workers === undefined ? undefined : await openWorkers(context.workers, job, context);
  await using service = await openService(job, context);
  await using workspace = await openWorkspace(job, { ...context, list: list?.sha256 });
  outcome.began(workspace);
  try {
    const prepared = await prepareRun(workspace, job, context);
    const gathered = await read(service, { job, context, workspace, prepared, list, queue });
    const result = await finishRun(workspace, job, context, prepared, gathered);
    workspace.keep(keptAfter(result, job));
    await outcome.published(result);
    return result;
  } catch (error) {
    await outcome.broke(error);
    throw await workspace.explain(error);
  }
}

interface ReadOptions {
  readonly job: Job;
  readonly context: Context;
  readonly workspace: Workspace;
  readonly prepared: PreparedRun;
  /** The list of documents passed to the run. */
  readonly list: { readonly discovery: ReadAllOptions["given"]; readonly sha256: string } | undefined;
  /** The queue of a run with workers. */
  readonly queue: DocumentQueue | undefined;
}

/** Reads everything in the job from its service. */
async function read({ client, baseUrl, connecting }: OpenService, options: ReadOptions): Promise<Gathered> {
  const { job, context, workspace, list, queue } = options;
  const { signal, outputs } = options.prepared;
  const { progress, now, log, retryFailed } = context;
  const { formats } = outputs;
  signal.addEventListener("abort", () => client.stop(signal.reason), { once: true });
  await using requests = await keepRequestSum(workspace.work, progress.requests);
  const distributeOver = async (discovery: Discovery, queue: DocumentQueue) => {
    const exchange = await ownExchange(workspace, workspace.runId);
    const ends = AbortSignal.any([signal, client.signal]); // a rejected key ends the run at once
    const { pause } = client;
    await client.closeConnections(); // workers open their own
    const options = { job, workspace, formats, progress, log, signal: ends, queue, exchange, pause };
    await distribute(discovery, { ...options, list: list?.sha256 });
  };
  const reading = await readEverything(client, {
    ...{ job, workspace, formats, progress, now, log, retryFailed, baseUrl, connecting },
    given: list?.discovery,
    distribute: queue && ((discovery) => distributeOver(discovery, queue)),
  });
  return { reading, baseUrl, requests: requests.sum() };
}

/**
 * The work to keep after a published run. A partial run keeps what it read, because `retryFailed` reads only what failed. A
 * database that could not be published is kept for the next run.
 */
function keptAfter(result: RunResult, job: Job): Kept {
  if (isDatabaseLeft(result, job)) return "everything";
  return result.manifest.status === "partial" ? "what was read" : "nothing";
}
