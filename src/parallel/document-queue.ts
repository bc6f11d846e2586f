import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { type Job, serviceName } from "../job/job.js";
import { object, pattern, text } from "../schema.js";
import type { ExchangePlan } from "./accept-document.js";
import type { Broker } from "./broker.js";

/** Milliseconds after which a broker that says nothing counts as gone. */
const longestCommand = 5_000;
/** Milliseconds without events after one that cannot be read. */
const pauseOfEvents = 1_000;

/** Hints of the queue. Each may be lost, or come twice: the exchange is what counts. */
interface QueueListener {
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
  const onOwn = (jobId: string, report: (document: string) => void) => {
    const document = nameFromJobId(queueId, jobId);
    if (document !== undefined) report(document);
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

/** A document in the queue. It names no URL and no key: a worker takes both from its own job file. */
export const documentJobSchema = object({
  run_id: text,
  queue_id: text,
  plan: text,
  version: text,
  dataset_id: text,
  document_id: text,
  /** The name of its parts. */
  name: pattern("the name of parts", /^[0-9a-f]{7,32}$/),
  /** The worker that tried it before, which leaves it to others. */
  tried_by: v.optional(text),
});

export type DocumentJob = v.InferOutput<typeof documentJobSchema>;

/** The queue of a job: one for all of its runs, whatever the output. */
export function queueName({ name, service }: Pick<Job, "name" | "service">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([serviceName(service), name]))
    .digest("hex");
  return `kbdump-${name}-${hash.slice(0, 8)}`;
}

/** The id of a document in the queue: adding it twice is harmless. */
export function jobIdOf(queueId: string, name: string): string {
  return `${queueId}-${name}`;
}

/** The name of a document that has such an id in this run; undefined for those of other runs. */
export function nameFromJobId(queueId: string, jobId: string): string | undefined {
  return jobId.startsWith(`${queueId}-`) ? jobId.slice(queueId.length + 1) : undefined;
}

/** The facts of a worker that decide whether it may read for a run. */
interface OwnFacts {
  readonly version: string;
  /** The plan hash of its own job file. */
  readonly plan: string;
}

/**
 * Says why a worker refuses a document; undefined where it takes it. `exchange` is what the coordinator wrote into the output that both
 * share; undefined where the worker does not find it there.
 */
export function refusalOf(job: DocumentJob, exchange: ExchangePlan | undefined, own: OwnFacts): string | undefined {
  if (job.version !== own.version) return `the run is of kbdump ${job.version}, this worker is ${own.version}`;
  if (job.plan !== own.plan) return "the job file of this worker asks for other things than that of the run";
  if (!exchange)
    return `this worker does not find run ${job.run_id} in its output: both must share the folder or bucket`;
  const isIts = (["run_id", "queue_id", "plan", "version"] as const).every((fact) => exchange[fact] === job[fact]);
  return isIts ? undefined : `run ${job.run_id} is not the one that its exchange is of`;
}

/** Milliseconds for a last command to a queue that may be gone: several of them take less than an interrupted process may live. */
const longest = 1_500;

/** Waits for a command of a queue, but not for long, and whatever comes of it. */
export async function atMost(command: Promise<unknown>): Promise<void> {
  await inTime(command, longest).catch(() => {});
}

/** Waits for a command of a queue. Rejects where there is no answer within so many milliseconds, and as soon as the signal is aborted. */
export async function inTime(command: Promise<unknown>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const ends = new AbortController();
  const late = delay(milliseconds, undefined, { signal: AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]) });
  const noAnswer = late.then(() => {
    throw new Error(`no answer within ${milliseconds / 1_000} s`);
  });
  await Promise.race([command, noAnswer]).finally(() => ends.abort());
}
