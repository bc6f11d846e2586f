import type { Broker } from "../../broker/open-broker.js";
import type { Job } from "../../job/job.js";
import { atMost } from "./at-most.js";
import { type DocumentJob, jobIdOf, nameFromJobId, queueName } from "./document-job.js";

/** Milliseconds after which a broker that says nothing counts as gone. */
const longestCommand = 5_000;
/** Milliseconds without events after one that cannot be read. */
const pauseOfEvents = 1_000;

/** Hints of the queue. Each may be lost, or come twice: the exchange is what counts. */
export interface QueueListener {
  /** A worker has ended an attempt at a document; `hasResult`: it says that the exchange has one now. */
  readonly onEnded: (name: string, hasResult: boolean) => void;
  /** A worker gave a document back without an attempt, and said why. */
  readonly onRefused: (name: string, reason: string) => void;
  readonly onProgress: (name: string, progress: unknown) => void;
}

/** The queue of a job, as the coordinator of one of its runs uses it. Everything but `close` rejects where the broker is gone. */
export interface DocumentQueue {
  /** Removes what runs that are no more left in it. */
  readonly clear: () => Promise<void>;
  readonly add: (jobs: readonly DocumentJob[]) => Promise<void>;
  /** Those of the documents that the queue does not have. */
  readonly findMissing: (names: readonly string[]) => Promise<readonly string[]>;
  /** Takes documents out of the queue, as far as no worker has them. */
  readonly remove: (names: readonly string[]) => Promise<void>;
  /** The names of the workers that are connected, in their order. */
  readonly workers: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** Opens the queue of a job for the run of this id in the queue. */
export function openDocumentQueue(broker: Broker, job: Job, queueId: string, listener: QueueListener): DocumentQueue {
  const { Queue, QueueEvents } = broker.libraries.bullmq;
  const name = queueName(job);
  const connection = broker.connect({ enableOfflineQueue: false, commandTimeout: longestCommand });
  const queue = new Queue<DocumentJob>(name, {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  const events = new QueueEvents(name, { connection: broker.connect(), autorun: false });
  queue.on("error", () => {}); // the exchange tells, whatever the queue says
  events.on("error", () => {});
  listen(events);
  const onOwn = (jobId: string, tell: (document: string) => void) => {
    const document = nameFromJobId(queueId, jobId);
    if (document !== undefined) tell(document);
  };
  events.on("completed", ({ jobId, returnvalue }) =>
    onOwn(jobId, (document) => listener.onEnded(document, /^(read|late)$/.test(String(returnvalue)))),
  );
  events.on("failed", ({ jobId, failedReason }) =>
    onOwn(jobId, (document) => listener.onRefused(document, failedReason)),
  );
  events.on("progress", ({ jobId, data }) => onOwn(jobId, (document) => listener.onProgress(document, data)));
  const idOf = (document: string) => jobIdOf(queueId, document);
  return {
    clear: () => queue.drain(true),
    add: async (jobs) => {
      await queue.addBulk(jobs.map((data) => ({ name: "document", data, opts: { jobId: idOf(data.name) } })));
    },
    findMissing: async (names) => {
      const pipeline = connection.pipeline();
      for (const document of names) pipeline.exists(queue.toKey(idOf(document)));
      const answers = (await pipeline.exec()) ?? [];
      return names.filter((_, index) => answers[index]?.[0] === null && answers[index]?.[1] === 0);
    },
    remove: async (names) => {
      await Promise.all(names.map((document) => queue.remove(idOf(document)).catch(() => {}))); // a worker has it
    },
    workers: async () => {
      const found = await queue.getWorkers();
      return found.map(({ rawname = "" }) => rawname.slice(rawname.lastIndexOf(":") + 1)).sort();
    },
    close: async () => {
      await Promise.all([atMost(queue.close()), atMost(events.close())]);
    },
  };
}

/** Hears events until they are closed: one that BullMQ did not write ends its own listening. */
function listen(events: { readonly closing: unknown; readonly run: () => Promise<void> }): void {
  const again = () => {
    if (!events.closing) listen(events);
  };
  events.run().catch(() => setTimeout(again, pauseOfEvents).unref());
}
