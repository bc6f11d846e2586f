import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../client/open-client.js";
import { openTexts } from "../../dump/formats/open-texts.js";
import { sayDiskError } from "../../file-error.js";
import type { Job } from "../../job/job.js";
import { openService, withDefaults } from "../../job/open-service.js";
import { waitingForDocuments } from "../../job/run-progress.js";
import { prefetchOf } from "../../segments/read-documents.js";
import type { Broker } from "../broker.js";
import { openWorkers } from "../distribute.js";
import { openExchanges } from "../exchange/open-exchange.js";
import { DocumentWorker } from "./document-worker.js";
import { KnownRuns, ReportedRequests } from "./take-document.js";
import { type WorkerContext, type WorkerOptions, type WorkerResult, withWorkerDefaults } from "./worker-options.js";

/** Milliseconds between two looks at whether there is anything to do. */
const pollEvery = 250;
/** Documents that are read at once, for every request that this worker may have in flight. */
const documentsPerSlot = 2;

/**
 * Works for the runs of a job that distribute their documents, one after the other, until it has been idle for as long as the options say,
 * or its signal ends it. Rejects with the reason of the signal, with UsageError (no key, a wrong address, missing libraries), and with
 * StopError where the service, the broker or the disk cannot be used.
 */
export async function workDocuments(job: Job, options: WorkerOptions): Promise<WorkerResult> {
  const context = withWorkerDefaults(options);
  await using workers = await openWorkers(context.broker, job, context);
  const { broker, shared } = workers;
  try {
    await using service = await openService(job, withDefaults(context), { shared });
    return await work(service.client, shared.share, broker, job, context);
  } catch (error) {
    throw sayDiskError(error, job.output.dir, "reading documents");
  }
}

async function work(
  client: Client,
  share: () => number,
  broker: Broker,
  job: Job,
  context: WorkerContext,
): Promise<WorkerResult> {
  const { signal, progress, log, idle = Number.POSITIVE_INFINITY } = context;
  const exchanges = await openExchanges(job, { ...context, now: () => new Date() });
  const failed = new AbortController();
  progress.step = waitingForDocuments;
  const taking = {
    ...{ job, client, name: context.name, known: new KnownRuns(job), prefetch: prefetchOf(job) },
    formats: await openTexts(job.output.formats, job.output.csvSafe),
    exchangeOf: exchanges.of,
    requests: new ReportedRequests(progress.requests),
  };
  const worker = new DocumentWorker(broker, taking, context, documentsPerSlot * share(), (error) => {
    failed.abort(error);
    client.stop(error); // the other documents of this worker are given back, too
  });
  log("info", `worker ${context.name} takes documents of job ${job.name} from ${broker.shown}`);
  const ends = AbortSignal.any([signal, failed.signal]);
  const stop = () => client.stop(ends.reason);
  ends.addEventListener("abort", stop, { once: true });
  try {
    while (worker.idle < idle && !ends.aborted) {
      worker.atOnce = documentsPerSlot * share();
      await delay(pollEvery, undefined, { signal: ends }).catch(() => {});
    }
  } finally {
    await worker.close();
    await exchanges.close();
    ends.removeEventListener("abort", stop);
  }
  ends.throwIfAborted();
  return worker.result;
}
