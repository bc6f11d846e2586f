import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openBucketEnvironment, stableTexts } from "../../run/bucket/bucket-job.js";
import { hasRedis } from "../../servers/start-redis.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow } from "../../store/bucket/bucket-helpers.js";
import { startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

describe.skipIf(!hasRedis || !hasS3)("workers that share a bucket with their run", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("on separate machines, they produce the same run as one machine, and leave nothing", async () => {
    const environment = await openBucketEnvironment(store);
    const broker = brokerOfAll();
    const [one, two, three] = [
      await environment.machine("one"),
      await environment.machine("two"),
      await environment.machine("three"),
    ];
    const single = await one.run();
    const workers = [two, three].map(({ job, env }, at) => startWorker(job, broker.url, env, { name: `worker-${at}` }));
    const said: string[] = [];
    const log = (_level: string, text: string) => void said.push(text);
    const shared = await one.run({ workers: broker.url, log });
    expect(shared.status).toBe("complete");
    expect(said.join("\n")).toMatch(/workers have read: worker-/);
    const [alone, together] = [single, shared].map(({ manifest }) => environment.fetched(manifest.run_id));
    expect(await stableTexts((await together) ?? "")).toEqual(await stableTexts((await alone) ?? ""));
    await Promise.all(workers.map((each) => each.stop()));
    expect((await keysBelow(environment.bucket, "")).filter((key) => key.startsWith("exchange/"))).toEqual([]);
    for (const machine of [two, three]) {
      const work = join(machine.job.output.dir, "test", ".work");
      expect((await readdir(work)).filter((name) => name.startsWith(".copies-"))).toEqual([]);
    }
  });

  test("a fenced coordinator removes the whole exchange: workers still continue", async () => {
    const environment = await openBucketEnvironment(store);
    const broker = brokerOfAll();
    const [one, two] = [await environment.machine("one", {}, store.env, 60), await environment.machine("two")];
    const single = await one.run();
    const ends = new AbortController();
    onTestFinished(() => ends.abort());
    const said: string[] = [];
    const log = (_level: string, text: string) => void said.push(text);
    const shared = one.run({ workers: broker.url, log, signal: ends.signal });
    while (!said.some((text) => text.includes("to workers"))) await delay(20);
    for (const key of await keysBelow(environment.bucket, "exchange/")) await environment.bucket.remove([key]);
    await delay(2_500); // the coordinator polls every 2 s
    startWorker(two.job, broker.url, two.env, { name: "worker-1" });
    const { manifest } = await shared;
    expect(said.join("\n")).toMatch(/workers have read: worker-1 2 documents/);
    expect(manifest.counts.chunks).toBe(single.manifest.counts.chunks);
  });
});
