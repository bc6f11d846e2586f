import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { QueueEvents } from "bullmq";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadJob } from "../../../src/job/load-job.js";
import { queueName } from "../../../src/parallel/queue.js";
import { runJob } from "../../../src/run/run-job.js";
import { isMapping } from "../../../src/schema.js";
import { jobFile, testFolder } from "../../run/job-for.js";
import { startPlace } from "../../run/shards/sharding.js";
import { startRealisticServer } from "../../servers/realistic-server.js";
import { hasRedis, startRedis } from "../../servers/start-redis.js";
import { makeDocument, Store } from "../../servers/store.js";
import { startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

/** The largest number of these times (in milliseconds) within any one second. */
function mostInASecond(moments: readonly number[]): number {
  return Math.max(...moments.map((at) => moments.filter((other) => other >= at && other < at + 1_000).length));
}

describe.skipIf(!hasRedis)("the limits that a coordinator and its workers share", () => {
  test("max_rps applies to all of them together, and is used up", async () => {
    const { job, run, env, server } = await startPlace(16);
    const service = { ...job.service, maxRps: 20 };
    for (const name of ["one", "two"]) startWorker({ ...job, service }, brokerOfAll().url, env, { name });
    const { manifest } = await run({ service }, { workers: brokerOfAll().url });
    expect(manifest.status).toBe("complete");
    const moments = server.requests.filter(({ path }) => path.includes("/segments")).map(({ at }) => at);
    expect(mostInASecond(moments)).toBeLessThanOrEqual(23); // 20, and one more for the first request of each process
    expect(mostInASecond(moments)).toBeGreaterThan(10);
  });

  test("max_rps and concurrency of the run apply, not those in the job files of its workers", async () => {
    const { job, run, env, server } = await startPlace(16);
    const service = { ...job.service, maxRps: 20 };
    startWorker({ ...job, service: { ...service, concurrency: 2 } }, brokerOfAll().url, env, { name: "one" });
    startWorker({ ...job, service: { ...job.service, concurrency: 2 } }, brokerOfAll().url, env, { name: "two" });
    const { manifest } = await run({ service }, { workers: brokerOfAll().url });
    expect(manifest.status).toBe("complete");
    const moments = server.requests.filter(({ path }) => path.includes("/segments")).map(({ at }) => at);
    expect(mostInASecond(moments)).toBeLessThanOrEqual(23);
    expect([server.maxInFlight, server.maxConnections].map((most) => most <= 4)).toEqual([true, true]);
  });

  test("a Retry-After that one of them gets pauses all", async () => {
    const { job, run, env, server, behaviour } = await startPlace(16);
    for (const name of ["one", "two"]) startWorker(job, brokerOfAll().url, env, { name, inFlight: 2 });
    behaviour.latency = 20;
    let refused = 0;
    behaviour.faults = ({ path, at }) => {
      if (refused > 0 || !path.includes("/segments") || server.requests.length < 40) return undefined;
      refused = at;
      return { kind: "status", status: 429, headers: { "retry-after": "2" }, code: "slow_down", message: "Slow." };
    };
    const { manifest } = await run({ service: { ...job.service, retries: 3 } }, { workers: brokerOfAll().url });
    expect([manifest.status, refused > 0]).toEqual(["complete", true]);
    expect(manifest.requests).toMatchObject({ sent: server.requests.length, throttled: 1 });
    const since = server.requests.map(({ at }) => at - refused);
    expect(since.filter((at) => at > 300 && at < 1_900)).toEqual([]);
  });

  test("all workers learn of a Retry-After, even if the batch of the reporting worker is gone from the queue", async () => {
    const { job, run, env, behaviour } = await startPlace(16);
    behaviour.latency = 100;
    const broker = brokerOfAll();
    startWorker(job, broker.url, env);
    const redis = new Redis(broker.url);
    const events = new QueueEvents(queueName(job), { connection: { host: "127.0.0.1", port: broker.port } });
    onTestFinished(async () => {
      redis.disconnect();
      await events.close();
    });
    let pauses = 0;
    events.on("progress", ({ data }) => {
      if (isMapping(data) && "pause" in data) pauses++;
    });
    await events.waitUntilReady();
    const result = run({ service: { ...job.service, retries: 3 } }, { workers: broker.url });
    const key = (name: string) => `bull:${queueName(job)}:${name}`;
    while ((await redis.llen(key("active"))) < 2) await delay(5);
    const oldest = await redis.lindex(key("active"), -1);
    await redis.del(key(oldest ?? ""));
    let isRefused = false;
    behaviour.faults = ({ path }) => {
      if (isRefused || !path.includes("/segments")) return undefined;
      isRefused = true;
      behaviour.latency = 0;
      return { kind: "status", status: 429, headers: { "retry-after": "1" }, code: "slow_down", message: "Slow." };
    };
    expect((await result).manifest.status).toBe("complete");
    expect([isRefused, pauses]).toEqual([true, 1]);
  });

  test("a large document has all requests, whether its size is known or found out; small ones share them", async () => {
    const store = new Store();
    const documents = [90, 3, 3, 3, 3, 3, 3].map((chunks, at) =>
      makeDocument({ chunks, seed: at + 1, childrenPerChunk: () => 1 }),
    );
    const { id } = store.addDataset(...documents);
    const server = await startRealisticServer(store, { resign: false, latency: 20 });
    onTestFinished(() => server.close());
    const folder = await testFolder();
    const file = await jobFile(folder, {
      service: { base_url: server.url, concurrency: 4 },
      datasets: [{ id, documents: documents.map((document) => document.id) }],
      child_chunks: "all",
      output: { dir: join(folder, "out"), formats: ["jsonl"] },
    });
    const job = await loadJob({ file }, {}, {});
    const env = { KNOWLEDGE_API_KEY: server.key };
    for (const name of ["one", "two"]) startWorker(job, brokerOfAll().url, env, { name });
    for (const size of ["found out", "known from the run before"]) {
      server.reset();
      expect((await runJob(job, { env, workers: brokerOfAll().url })).status).toBe("complete");
      const ofLarge = server.requests.filter(({ path }) => path.includes(documents[0]?.id ?? ""));
      expect(Math.max(...ofLarge.map(({ inFlight }) => inFlight)), size).toBe(4);
      expect([server.maxInFlight, server.maxConnections].map((most) => most <= 4)).toEqual([true, true]);
    }
  });

  test("a worker that waits says that its broker is gone, and that it is back", async () => {
    const { job, env } = await startPlace(2);
    const broker = await startRedis();
    onTestFinished(() => broker.stop());
    const { said } = startWorker(job, broker.url, env);
    const hear = async (text: string) => {
      while (!said.some((line) => line.includes(text))) await delay(50);
    };
    await hear("takes documents of job");
    await broker.kill();
    await hear("does not answer: no document is handed out until it is back");
    await broker.start();
    await hear("is back: documents are handed out again");
  });
});
