import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Queue, QueueEvents } from "bullmq";
import * as v from "valibot";
import { isRunId } from "../dump/run-id.js";
import { type Job, serviceName } from "../job/job.js";
import type { Log } from "../log.js";
import { amount, count, listOf, object, pattern, text, valueIf } from "../schema.js";
import { atMost, type Broker } from "./broker.js";

/**
 * How many milliseconds a worker owns a batch without renewing it. A worker that cannot renew aborts its requests earlier, so
 * that no request for a batch is in flight after this time.
 */
export const lockTime = 6_000;

/** Milliseconds until a silent broker counts as gone. */
const longestCommand = 5_000;
/** Milliseconds to pause after an unreadable event. */
const pauseOfEvents = 1_000;

/** A run, and everything that a worker must agree with. It is in each batch and, as JSON, in `plan.json` in the exchange. */
const planSchema = object({
  /** The run. Its id is part of a path, so it must be valid: a broker may send anything. */
  run_id: v.pipe(text, v.check(isRunId)),
  /** The plan hash of the coordinator. */
  plan: text,
  version: text,
  /** The hash of the given list of documents; null if the run asked the service. */
  list: v.nullable(text),
});
export type RunPlan = v.InferOutput<typeof planSchema>;

/** Documents that one worker reads together, as queued. Contains no URL and no key: a worker has both in its job file. */
export const batchSchema = object({
  run: planSchema,
  /** Concurrent requests of the run and all its workers together. */
  concurrency: v.pipe(count, v.minValue(1)),
  /** Requests a second of the run and all its workers together; null if there is no limit. */
  max_rps: v.nullable(amount),
  /** Concurrent requests that the worker may send for this batch. */
  slots: count,
  /** A document with more pages and child lists waits until it gets all slots; null: no limit. */
  most_pages: v.nullable(count),
  documents: listOf(
    object({
      name: pattern("the name of segments", /^[0-9a-f]{7,32}$/),
      dataset_id: text,
      document_id: text,
    }),
  ),
});
export type BatchData = v.InferOutput<typeof batchSchema>;

/** A worker's report at the end of a batch. Documents that it does not name must be read again. */
const endSchema = object({
  /** Documents that have a result now. */
  submitted: listOf(text),
  /** Documents that were larger than `most_pages`. */
  large: listOf(text),
});
export type BatchEnd = v.InferOutput<typeof endSchema>;

/** The prefix of the reason when a worker refuses a batch. */
export const refusal = "refused: ";

const pauseSchema = object({ pause: count });
const nothing: BatchEnd = { submitted: [], large: [] };

/** The reports of the queue. Each is only a hint and may be lost, because only the exchange decides which work is done. */
interface QueueListener {
  /** A worker ended a batch. `reason`: why it failed or was refused. */
  readonly onEnded: (id: string, end: BatchEnd, reason: string | undefined) => void;
  readonly onProgress: (id: string, progress: unknown) => void;
}

/**
 * A Redis script that removes keys and sets the limit, if the run still owns the queue, or if the queue has no owner and may have
 * lost it. KEYS: meta, and those to remove. ARGV: the run, the limit, and 1 if the queue may have lost its owner.
 */
const setLimit = `
local owner = redis.call("HGET", KEYS[1], "kbdump")
if owner ~= ARGV[1] and (owner or ARGV[3] ~= "1") then return 0 end
for at = 2, #KEYS do redis.call("DEL", KEYS[at]) end
redis.call("HSET", KEYS[1], "kbdump", ARGV[1], "concurrency", ARGV[2])
return 1`;

/**
 * A Redis script that removes the batches that no worker has begun, if the run still owns the queue. KEYS: meta, wait. ARGV: the
 * owner, the key prefix.
 */
const takeBack = `
if redis.call("HGET", KEYS[1], "kbdump") ~= ARGV[1] then return 0 end
for _, id in ipairs(redis.call("LRANGE", KEYS[2], 0, -1)) do redis.call("DEL", ARGV[2] .. id) end
return redis.call("DEL", KEYS[2])`;

/** The queue of a job, for the coordinator of one of its runs. Everything except `close` rejects if the broker is gone. */
export class DocumentQueue implements AsyncDisposable {
  readonly broker: Broker;
  readonly #job: Job;
  readonly #owner = randomUUID();
  readonly #connection: ReturnType<Broker["connect"]>;
  readonly #queue: Queue<BatchData>;
  readonly #meta: string;
  #events: QueueEvents | undefined;

  private constructor(broker: Broker, job: Job) {
    this.broker = broker;
    this.#job = job;
    this.#connection = broker.connect({ enableOfflineQueue: false, commandTimeout: longestCommand });
    this.#queue = new broker.libraries.bullmq.Queue<BatchData>(queueName(job), {
      connection: this.#connection,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on("error", () => {}); // only the exchange decides, so errors of the queue do not matter
    this.#meta = this.#queue.toKey("meta");
  }

  /**
   * Opens the queue of a job for a new run. When it resolves, no worker sends requests for an earlier run. That is usually at once, but
   * takes the lock time if the queue is new, has lost its data, or was left by a killed coordinator.
   */
  static async open(
    broker: Broker,
    job: Job,
    { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
  ): Promise<DocumentQueue> {
    const queue = new DocumentQueue(broker, job);
    await once(queue.#connection, "ready", { signal });
    const isLost = (await queue.state()) === "lost";
    await queue.#connection.hset(queue.#meta, "kbdump", queue.#owner);
    await queue.#takeBack(); // from here on, no worker begins a batch of an earlier run
    if (isLost || (await queue.#queue.getActiveCount()) > 0) {
      await queue.wipe();
      log(
        "info",
        `waiting ${lockTime / 1_000} s: the queue is new or was left by another run, whose requests may be in flight`,
      );
      await delay(lockTime, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return queue;
  }

  /** Listens for batches and pauses until the queue is closed. */
  listen({ onEnded, onProgress }: QueueListener, onPause: (milliseconds: number) => void): void {
    const events = hearPauses(this.broker, this.#job, onPause);
    this.#events = events;
    events.on("completed", ({ jobId, returnvalue }) =>
      onEnded(jobId, valueIf(endSchema, returnvalue) ?? nothing, undefined),
    );
    events.on("failed", ({ jobId, failedReason }) => onEnded(jobId, nothing, failedReason));
    events.on("progress", ({ jobId, data }) => onProgress(jobId, data));
  }

  /** The state of the queue. lost: it has lost its data, including the limit. taken: another run now uses it. whole: neither. */
  async state(): Promise<"whole" | "lost" | "taken"> {
    const [limit, owner] = await this.#connection.hmget(this.#meta, "concurrency", "kbdump");
    if (limit === null || owner === null) return "lost";
    return owner === this.#owner ? "whole" : "taken";
  }

  /** Empties the queue, so that workers stop within the lock time. Returns false, and keeps the batches, if another run now uses it. */
  async wipe(): Promise<boolean> {
    // During the first scan, a worker may take and lock a batch. After it, no batches are left to take.
    return (await this.#removeAll()) && (await this.#removeAll());
  }

  async #removeAll(): Promise<boolean> {
    const keys: string[] = [];
    const found = this.#connection.scanStream({ match: this.#queue.toKey("*"), count: 1_000 });
    for await (const some of found) keys.push(...some);
    return this.limit(1, keys);
  }

  /**
   * Sets how many batches may run at once. Returns false if the queue is not ours, or has lost its data. `removed`: keys to remove
   * before that; then the queue may have lost its data.
   */
  async limit(batches: number, removed?: readonly string[]): Promise<boolean> {
    const keys = [this.#meta, ...(removed ?? [])];
    const args = [this.#owner, batches, removed ? "1" : "0"];
    return (await this.#connection.eval(setLimit, keys.length, ...keys, ...args)) === 1;
  }

  async #takeBack(): Promise<void> {
    await this.#connection.eval(takeBack, 2, this.#meta, this.#queue.toKey("wait"), this.#owner, this.#queue.toKey(""));
  }

  async add(batches: readonly { readonly id: string; readonly data: BatchData }[]): Promise<void> {
    await this.#queue.addBulk(batches.map(({ id, data }) => ({ name: "documents", data, opts: { jobId: id } })));
  }

  /** The batches that are missing from the queue. */
  async findMissing(ids: readonly string[]): Promise<readonly string[]> {
    const pipeline = this.#connection.pipeline();
    for (const id of ids) pipeline.exists(this.#queue.toKey(id));
    const answers = (await pipeline.exec()) ?? [];
    return ids.filter((_, index) => answers[index]?.[0] === null && answers[index]?.[1] === 0);
  }

  /** The names of the connected workers, sorted. */
  async workers(): Promise<readonly string[]> {
    const found = await this.#queue.getWorkers();
    return found.map(({ rawname = "" }) => rawname.slice(rawname.lastIndexOf(":") + 1)).sort();
  }

  /** Closes all connections to the broker. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.broker.close();
  }

  /** Removes batches that no worker has begun, and closes the queue. */
  async close(): Promise<void> {
    await atMost(this.#takeBack());
    await Promise.all([atMost(this.#queue.close()), this.#events && atMost(this.#events.close())]);
  }
}

/** Calls the listener when the service asked a worker to wait. Close the returned events to stop. */
export function hearPauses(broker: Broker, job: Job, onPause: (milliseconds: number) => void): QueueEvents {
  const events = new broker.libraries.bullmq.QueueEvents(queueName(job), {
    connection: broker.connect(),
    autorun: false,
  });
  events.on("error", () => {}); // it reconnects
  events.on("progress", ({ data }) => {
    const asked = valueIf(pauseSchema, data);
    if (asked) onPause(asked.pause);
  });
  listenOn(events);
  return events;
}

/** Listens for events until they are closed. Restarts after an event that BullMQ did not write, which ends its own loop. */
function listenOn(events: QueueEvents): void {
  const again = () => {
    if (!events.closing) listenOn(events);
  };
  events.run().catch(() => setTimeout(again, pauseOfEvents).unref());
}

/** The queue name of a job, the same for all of its runs and outputs. */
export function queueName({ name, service }: Pick<Job, "name" | "service">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([serviceName(service), name]))
    .digest("hex");
  return `kbdump-${name}-${hash.slice(0, 8)}`;
}
