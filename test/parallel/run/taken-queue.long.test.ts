import { Queue, Worker } from "bullmq";
import { expect, onTestFinished, test } from "vitest";
import { openBroker } from "../../../src/parallel/broker.js";
import { DocumentQueue, queueName } from "../../../src/parallel/queue.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis, startRedis } from "../../servers/start-redis.js";

/** A queue from an earlier run with one waiting batch, and a worker that takes it on demand. */
async function startLeftQueue() {
  const { job } = await startPlace(1);
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const broker = await openBroker(server.url);
  onTestFinished(() => broker.close());
  const name = queueName(job);
  const connection = { host: "127.0.0.1", port: server.port, maxRetriesPerRequest: null };
  const queue = new Queue(name, { connection });
  const worker = new Worker(name, undefined, { connection });
  onTestFinished(async () => void (await Promise.all([queue.close(), worker.close(true)])));
  await queue.setGlobalConcurrency(1);
  await broker.connect().hset(queue.toKey("meta"), "kbdump", "an earlier run");
  await queue.add("documents", {});
  return { job, broker, queue, take: () => worker.getNextJob("token") };
}

const options = { log: () => {}, signal: new AbortController().signal };

test.skipIf(!hasRedis)(
  "a worker takes a batch just when a new run takes over the queue: the run waits for its end",
  async () => {
    const { job, broker, queue, take } = await startLeftQueue();
    const taken: Awaited<ReturnType<typeof take>>[] = [];
    const connect: typeof broker.connect = (more) => {
      const connection = broker.connect(more);
      const hset = connection.hset.bind(connection) as (...args: unknown[]) => Promise<number>;
      connection.hset = (async (...args: unknown[]) => {
        if (args[1] === "kbdump" && taken.length === 0) taken.push(await take());
        return hset(...args);
      }) as typeof connection.hset;
      return connection;
    };
    const opened = await DocumentQueue.open({ ...broker, connect }, job, options);
    expect(taken[0]).toBeDefined();
    expect(await queue.getActiveCount()).toBe(0);
    expect(await taken[0]?.extendLock("token", 6_000).catch(() => 0)).toBe(0);
    await opened.close();
  },
);

test.skipIf(!hasRedis)("batches that no worker has started are no reason to wait", async () => {
  const { job, broker, queue } = await startLeftQueue();
  const begun = performance.now();
  const opened = await DocumentQueue.open(broker, job, options);
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect(await queue.getWaitingCount()).toBe(0);
  await opened.close();
});

test.skipIf(!hasRedis)(
  "a run whose queue is taken right before it empties it or sets its limit changes nothing",
  async () => {
    const { job, broker, queue } = await startLeftQueue();
    const take = () => broker.connect().hset(queue.toKey("meta"), "kbdump", "a later run", "concurrency", 7);
    let isOpen = false;
    const connect: typeof broker.connect = (more) => {
      const connection = broker.connect(more);
      const script = connection.eval.bind(connection) as (...args: unknown[]) => Promise<unknown>;
      connection.eval = (async (...args: unknown[]) => {
        if (isOpen) await take();
        return script(...args);
      }) as typeof connection.eval;
      return connection;
    };
    const opened = await DocumentQueue.open({ ...broker, connect }, job, options);
    const untouched = await DocumentQueue.open({ ...broker, connect }, job, options);
    await queue.add("documents", {});
    isOpen = true;
    await untouched.close();
    expect(await queue.getWaitingCount(), "it takes back nothing").toBe(1);
    expect([await opened.wipe(), await opened.limit(3), await opened.state()]).toEqual([false, false, "taken"]);
    expect([await queue.getWaitingCount(), await queue.getGlobalConcurrency()]).toEqual([1, 7]);
    await opened.close();
    expect(await queue.getWaitingCount(), "it takes back nothing either").toBe(1);
  },
);

test.skipIf(!hasRedis)("a run empties a queue that has lost everything, and sets no limit before that", async () => {
  const { job, broker, queue } = await startLeftQueue();
  const opened = await DocumentQueue.open(broker, job, options);
  await broker.connect().flushall();
  expect([await opened.state(), await opened.limit(3)]).toEqual(["lost", false]);
  expect([await opened.wipe(), await opened.limit(3), await opened.state()]).toEqual([true, true, "whole"]);
  expect(await queue.getGlobalConcurrency()).toBe(3);
  await opened.close();
});
