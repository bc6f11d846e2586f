import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { emptyRunTally } from "../../../src/run/setting/run-tally.js";
import { hasRedis } from "../../servers/start-redis.js";
import { startPlace } from "../shards/sharding.js";
import { expectSameBytes, startWorker, useBroker } from "./working.js";

const brokerOfAll = useBroker();

describe.skipIf(!hasRedis)("runs with workers that end before all is read", () => {
  test("the service does not take the key of the run: it ends at once, and does not wait for workers", async () => {
    const { store, run } = await startPlace(4);
    const datasets = [...store.datasets.values()].map(({ id, documents }) => ({
      ...{ id, documents: [...documents.keys()], batches: [], status: [], keyword: undefined },
    }));
    const begun = performance.now();
    const env = { KNOWLEDGE_API_KEY: "dataset-wrong" };
    await expect(run({ datasets }, { workers: brokerOfAll().url, env })).rejects.toThrow(/401 unauthorized/);
    expect(performance.now() - begun).toBeLessThan(9_000); // a new broker lets nobody send for 5 s
  });

  test("interrupted before any document was taken over: the next run takes over what workers read meanwhile", async () => {
    const { run, job, env, behaviour, server } = await startPlace(2);
    const broker = brokerOfAll();
    const single = await run();
    behaviour.latency = 1_000;
    const reader = startWorker(job, broker.url, env);
    const interrupt = new AbortController();
    const tally = emptyRunTally();
    const first = run({}, { workers: broker.url, signal: interrupt.signal, tally }).catch((error: unknown) => error);
    while (tally.documentsBegun === 0) await delay(5);
    interrupt.abort(new Error("interrupted"));
    expect(await first).toEqual(new Error("interrupted"));
    expect(tally).toMatchObject({ documentsDone: 0, isKept: true });
    behaviour.latency = 0;
    const chunksAsked = () => server.requests.filter(({ path }) => path.includes("/segments")).length;
    for (let last = -1; last !== chunksAsked(); await delay(2_500)) last = chunksAsked();
    const before = chunksAsked();
    await reader.stop();
    await expectSameBytes(single, await run({}, { workers: broker.url }));
    expect(chunksAsked()).toBe(before);
  });

  test("an exchange was removed and made anew while a worker read: the worker goes on with what it is asked for now", async () => {
    const { run, job, env, behaviour, folder } = await startPlace(2);
    const broker = brokerOfAll();
    const single = await run();
    behaviour.latency = 300;
    const reader = startWorker(job, broker.url, env);
    const tally = emptyRunTally();
    const result = run({}, { workers: broker.url, tally });
    while (tally.documentsBegun === 0) await delay(5);
    const exchanges = join(folder, "out", "test", ".work", "exchange");
    const attempts = join(exchanges, (await readdir(exchanges))[0] ?? "", "attempts");
    for (const name of await readdir(attempts)) await rm(join(attempts, name), { recursive: true });
    await expectSameBytes(single, await result);
    expect(await reader.stop()).toMatchObject({ error: new Error("the test is over") });
  });
});
