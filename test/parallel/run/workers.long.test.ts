import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Queue } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { emptyRunProgress } from "../../../src/job/run-progress.js";

import { queueName } from "../../../src/parallel/queue.js";
import { startPlace } from "../../run/shards/sharding.js";
import { hasRedis } from "../../servers/start-redis.js";
import { expectSameBytes, startWorker, useBroker } from "./working.js";

/** The remaining entries in the exchange folder. */
const exchangeOf = (folder: string) => readdir(join(folder, "out", "test", ".work", "exchange")).catch(() => []);

const brokerOfAll = useBroker();

async function startShared(more: Record<string, unknown> = {}) {
  const place = await startPlace(8, more);
  const broker = brokerOfAll();
  const said: string[] = [];
  const log = (_level: string, text: string) => void said.push(text);
  const shared = (changes = {}, options = {}) => place.run(changes, { workers: broker.url, log, ...options });
  let workers = 0;
  const worker = (job = place.job) => startWorker(job, broker.url, place.env, { name: `worker-${++workers}` });
  return { ...place, broker, said, shared, worker };
}

describe.skipIf(!hasRedis)("workers over a real broker", () => {
  test("two workers read the same as one run, byte for byte, and leave nothing of the exchange", async () => {
    const { run, shared, worker, said, folder } = await startShared();
    const single = await run();
    const workers = [worker(), worker()];
    const progress = emptyRunProgress();
    const result = await shared({}, { progress });
    await expectSameBytes(single, result);
    expect(single.manifest.counts.document_details).toBeGreaterThan(0);
    expect(result.manifest).toMatchObject({ status: "complete", counts: single.manifest.counts });
    expect(result.manifest.requests).toMatchObject({ sent: single.manifest.requests.sent });
    expect(progress).toMatchObject({
      documents: 8,
      documentsDone: 8,
      documentsFound: 0,
      requestsElsewhere: 0,
      chunks: single.manifest.counts.chunks,
    });
    expect(await exchangeOf(folder)).toEqual([]);
    const read = await Promise.all(workers.map((each) => each.stop()));
    expect(read.map(({ error }) => String(error))).toEqual(["Error: the test is over", "Error: the test is over"]);
    expect(said.join("\n")).toMatch(/handing out 8 documents to workers/);
    const present = said.filter((text) => text.startsWith("connected workers"));
    expect(present.at(-1)).toBe("connected workers: worker-1, worker-2");
    expect(new Set(present).size, "each change once").toBe(present.length);
    const all = /workers have read: (worker-1 \d documents?, worker-2 \d documents?|worker-[12] 8 documents)$/m;
    expect(said.join("\n")).toMatch(all);
  });

  test("no worker comes: the run says so, and reads everything itself once its patience is over", async () => {
    const { run, shared, said, server } = await startShared({
      service: { base_url: "http://127.0.0.1:1", retries: 0, outage: 1 },
    });
    const service = { ...(await startShared()).job.service, baseUrl: server.url, outage: 22 };
    const [single, alone] = [await run({ service }), await shared({ service })];
    await expectSameBytes(single, alone);
    expect(said.filter((text) => text.includes("heartbeat"))).toEqual([
      expect.stringMatching(/^no worker sends heartbeats: start one with .*; after 22 s without one this run reads 8/),
      "no worker sent a heartbeat for 22 s: this run reads 8 documents itself",
    ]);
  });

  test("a document that a worker cannot read whole is read by the run as a single one reads it", async () => {
    const { shared, worker, said, store, behaviour } = await startShared();
    const [restless] = [...store.datasets.values()][0]?.documents.values() ?? [];
    const gone = { status: 404, body: { code: "not_found", message: "Document not found" } };
    behaviour.documentError = new Map([[restless?.id ?? "", gone]]);
    worker();
    worker();
    const { manifest } = await shared();
    expect(manifest.status).toBe("partial");
    const states = manifest.documents.filter(({ status }) => status !== "complete");
    expect(states).toMatchObject([{ document_id: restless?.id, status: "failed" }]);
    const attempts = said.filter((text) => text.includes(`document ${restless?.id}: worker`));
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatch(/found it failed: .*404.*; this run reads it itself later$/);
  });

  test("a worker with another job file returns its documents, and other workers read them", async () => {
    const { run, shared, worker, said, job } = await startShared();
    const single = await run();
    const stranger = worker({ ...job, childChunks: "none" });
    const right = worker();
    await expectSameBytes(single, await shared());
    const sentence = "this worker's job file does not read the same data as the run's";
    expect(stranger.said.join("\n")).toContain(sentence);
    expect(said.join("\n")).toContain(sentence);
    expect(right.said.join("\n")).not.toContain(sentence);
  });

  test("a worker that cannot read its output returns its documents, and says why", async () => {
    const { run, shared, worker, said, job, folder } = await startShared();
    const single = await run();
    const dir = join(folder, "linked");
    await mkdir(dir);
    await symlink(join(folder, "out", "test"), join(dir, "test"));
    const linked = worker({ ...job, output: { ...job.output, dir } });
    const result = shared();
    const sentence = `${join(dir, "test")} is a symbolic link, which is not followed; remove it`;
    await expect.poll(() => said.join("\n"), { timeout: 10_000 }).toContain(sentence);
    worker();
    await expectSameBytes(single, await result);
    expect(linked.said.join("\n")).toContain(sentence);
    expect(said.join("\n")).toContain("workers have read: worker-2 8 documents");
  });

  test("an interrupted run leaves the exchange to the next one, which requests nothing again", async () => {
    const { run, shared, worker, server, behaviour, folder } = await startShared();
    const single = await run();
    behaviour.latency = 10;
    const reader = worker();
    const ends = new AbortController();
    const progress = emptyRunProgress();
    const first = shared({}, { signal: ends.signal, progress }).catch((error: unknown) => error);
    while (progress.documentsDone < 4) await delay(5);
    ends.abort(new Error("interrupted"));
    expect(await first).toEqual(new Error("interrupted"));
    expect(progress.documentsDone).toBeGreaterThanOrEqual(4); // the error reports this number
    expect(await exchangeOf(folder)).toHaveLength(1);
    const before = server.requests.length;
    const second = await shared();
    await expectSameBytes(single, second);
    const asked = server.requests.length - before;
    expect(asked).toBeLessThan(single.manifest.requests.sent * 0.75);
    await reader.stop();
  });

  test("the broker loses all data in the middle: the run puts back the open documents", async () => {
    const { run, shared, worker, broker, behaviour } = await startShared();
    const single = await run();
    behaviour.latency = 20;
    const progress = emptyRunProgress();
    const result = shared({}, { progress });
    while (progress.documents === 0) await delay(5);
    await delay(100);
    await broker.restart();
    worker();
    worker();
    await expectSameBytes(single, await result);
  });

  test("a document that another program put into the queue is refused", async () => {
    const { shared, worker, broker, job } = await startShared();
    const reader = worker();
    await shared();
    const queue = new Queue(queueName(job), { connection: { host: "127.0.0.1", port: broker.port } });
    onTestFinished(() => queue.close());
    await queue.add("documents", { run_id: "../../x", plan: "x", version: "x", names: ["0000001"] });
    await queue.add("documents", "rubbish");
    while (!reader.said.some((text) => text.includes("documents were returned"))) await delay(20);
    expect(reader.said.at(-1)).toMatch(/documents were returned: these are not documents of a run/);
  });

  test("a second run of the job with the same queue takes it over, and the first reads the rest itself", async () => {
    const { run, shared, worker, job, folder, said, behaviour } = await startShared();
    const single = await run();
    behaviour.latency = 50;
    const output = { ...job.output, dir: join(folder, "other") };
    worker();
    worker({ ...job, output });
    const first = shared();
    while (!said.some((text) => text.includes("to workers"))) await delay(20);
    for (const each of await Promise.all([first, shared({ output })])) await expectSameBytes(single, each);
    expect(said.join("\n")).toContain("another run of this job uses the same queue now: this run reads ");
  });
});
