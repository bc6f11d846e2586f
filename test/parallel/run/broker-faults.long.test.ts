import { setTimeout as delay } from "node:timers/promises";
import { UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

import { queueName } from "../../../src/parallel/queue.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis, startRedis } from "../../servers/start-redis.js";

/** A run with its own broker that waits 10 s for workers, which never come. */
async function startLonely(documents: number) {
  const place = await startPlace(documents);
  const broker = await startRedis();
  onTestFinished(() => broker.stop());
  const said: string[] = [];
  const log = (_level: string, text: string) => void said.push(text);
  const service = { ...place.job.service, outage: 1 };
  const progress = emptyRunProgress();
  const start = (signal = new AbortController().signal) =>
    place.run({ service }, { workers: broker.url, log, progress, signal });
  const hears = async (text: string) => {
    while (!said.some((sentence) => sentence.includes(text))) await delay(20);
  };
  return { ...place, broker, said, progress, start, hears };
}

describe.skipIf(!hasRedis)("a broker that fails its run", () => {
  test("fails before the first document is queued: the run finishes by itself", async () => {
    const { broker, said, progress, start, behaviour } = await startLonely(4);
    behaviour.latency = 100;
    const result = start();
    while (progress.step !== "listing documents") await delay(5);
    await broker.kill();
    expect((await result).status).toBe("complete");
    expect(said.join("\n")).toMatch(/no worker sent a heartbeat for 10 s: this run reads 4 documents itself/);
  });

  test("it is frozen with many documents in its queue: the run does not wait for each of them", async () => {
    const { broker, start, hears } = await startLonely(30);
    const result = start();
    await hears("to workers");
    await delay(1_000);
    broker.signal("SIGSTOP");
    expect((await result).status).toBe("complete");
  });

  test("it is frozen: an interrupted run ends within the time that it has", async () => {
    const { broker, start, hears } = await startLonely(30);
    const interrupt = new AbortController();
    const result = start(interrupt.signal).catch((error: unknown) => error);
    await hears("to workers");
    await delay(1_000);
    broker.signal("SIGSTOP");
    await delay(1_500);
    const before = performance.now();
    interrupt.abort(new Error("interrupted"));
    expect(await result).toEqual(new Error("interrupted"));
    expect(performance.now() - before).toBeLessThan(4_000);
  });

  test("a worker hangs and sends only heartbeats: the run does not wait for it forever", async () => {
    const { broker, said, start, job, hears } = await startLonely(4);
    const result = start();
    await hears("to workers");
    const connection = { host: "127.0.0.1", port: broker.port, maxRetriesPerRequest: null };
    const ends = new AbortController();
    const reported = { worker: "hung", sent: 7, unreported: 0, documents: {} };
    const hung = new Worker(
      queueName(job),
      async (queued) => {
        while (!ends.signal.aborted) await queued.updateProgress(reported).then(() => delay(500));
      },
      { connection, concurrency: 4 },
    );
    hung.on("error", () => {}); // its batches no longer exist
    onTestFinished(() => {
      ends.abort();
      return hung.close(true);
    });
    expect((await result).status).toBe("complete");
    expect(said.join("\n")).toMatch(/no worker sent a heartbeat for 10 s/);
  });

  test("another run takes over the queue while documents are returned: the run says so, and does not touch it", async () => {
    const { broker, said, start, job } = await startLonely(4);
    const connection = { host: "127.0.0.1", port: broker.port, maxRetriesPerRequest: null };
    const redis = new Redis(broker.url);
    onTestFinished(() => redis.disconnect());
    const refusing = new Worker(
      queueName(job),
      async () => {
        await redis.hset(refusing.toKey("meta"), "kbdump", "another run");
        await redis.set(refusing.toKey("batch"), "of another run");
        await delay(200); // gives the run time to notice the new owner
        throw new UnrecoverableError("refused: by a test");
      },
      { connection },
    );
    onTestFinished(() => refusing.close(true));
    await refusing.waitUntilReady();
    expect((await start()).status).toBe("complete");
    expect(await redis.hget(refusing.toKey("meta"), "kbdump")).toBe("another run");
    expect(await redis.get(refusing.toKey("batch"))).toBe("of another run");
    expect(said.join("\n")).toMatch(
      /another run of this job uses the same queue now: this run reads 4 documents itself/,
    );
    expect(said.join("\n")).not.toMatch(/lost its data\)/);
  });
});
