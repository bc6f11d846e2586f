import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { emptyRunProgress } from "../../../src/job/run-progress.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis } from "../../servers/start-redis.js";
import { expectSameBytes, startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

/** The paths that the segments of the first result get when a coordinator accepts it. */
async function partsOfFirst(folder: string): Promise<readonly string[]> {
  const work = join(folder, "out", "test", ".work");
  const entries = await readdir(work, { recursive: true });
  const segments = entries.find((entry) => basename(entry) === "segments") ?? "";
  const result = entries.find((entry) => basename(dirname(entry)) === "results") ?? "";
  const { stored } = JSON.parse(await readFile(join(work, result), "utf8"));
  return stored.segments.map(({ file }: { file: string }) => join(work, segments, file));
}

describe.skipIf(!hasRedis)("runs with workers that end before all is read", () => {
  test("the service does not accept the key of the run: it ends at once, and does not wait for workers", async () => {
    const { store, run } = await startPlace(4);
    const datasets = [...store.datasets.values()].map(({ id, documents }) => ({
      ...{ id, documents: [...documents.keys()], batches: [], status: [], keyword: undefined },
    }));
    let begun = 0;
    const log = () => {
      begun = performance.now(); // measures from here, because the last log line is about the queue, which may take some seconds
    };
    const env = { KNOWLEDGE_API_KEY: "dataset-wrong" };
    await expect(run({ datasets }, { workers: brokerOfAll().url, env, log })).rejects.toThrow(/401 unauthorized/);
    expect(performance.now() - begun).toBeLessThan(9_000);
  });

  test("interrupted before any document was accepted: the next run accepts what workers read meanwhile", async () => {
    const { run, job, env, behaviour, server, folder } = await startPlace(2);
    const broker = brokerOfAll();
    const single = await run();
    behaviour.latency = 1_000;
    const reader = startWorker(job, broker.url, env);
    const interrupt = new AbortController();
    const progress = emptyRunProgress();
    const first = run({}, { workers: broker.url, signal: interrupt.signal, progress }).catch((error: unknown) => error);
    while (progress.documentsBegun === 0) await delay(5);
    interrupt.abort(new Error("interrupted"));
    expect(await first).toEqual(new Error("interrupted"));
    expect(progress).toMatchObject({ documentsDone: 0, isKept: true });
    behaviour.latency = 0;
    const chunksAsked = () => server.requests.filter(({ path }) => path.includes("/segments")).length;
    for (let last = -1; last !== chunksAsked(); await delay(2_500)) last = chunksAsked();
    const before = chunksAsked();
    await reader.stop();
    for (const path of await partsOfFirst(folder)) await writeFile(path, "half"); // as if the run was killed while it copied them
    await expectSameBytes(single, await run({}, { workers: broker.url }));
    expect(chunksAsked()).toBe(before);
  });

  test("the exchange is removed and recreated while a worker reads: the worker continues with the new requests", async () => {
    const { run, job, env, behaviour, folder } = await startPlace(2);
    const broker = brokerOfAll();
    const single = await run();
    behaviour.latency = 1_500; // slow enough that the attempt still runs when the worker first reports it
    const reader = startWorker(job, broker.url, env);
    const progress = emptyRunProgress();
    const result = run({}, { workers: broker.url, progress });
    while (progress.documentsBegun === 0) await delay(5);
    const exchanges = join(folder, "out", "test", ".work", "exchange");
    const attempts = join(exchanges, (await readdir(exchanges))[0] ?? "", "attempts");
    for (const name of await readdir(attempts)) await rm(join(attempts, name), { recursive: true });
    await expectSameBytes(single, await result);
    expect(await reader.stop()).toMatchObject({ error: new Error("the test is over") });
  });
});
