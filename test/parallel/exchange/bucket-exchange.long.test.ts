import { randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LostError, StopError } from "../../../src/errors.js";
import { beginAttempt } from "../../../src/parallel/exchange.js";
import { openExchanges, ownExchange, removeOtherExchanges } from "../../../src/parallel/open-exchange.js";
import { pruneJob } from "../../../src/run/prune-job.js";
import type { Bucket } from "../../../src/store/bucket/bucket.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { rounds } from "../../rounds.js";
import { openBucketEnvironment as openJobEnvironment } from "../../run/bucket/bucket-job.js";
import { startCuttingProxy } from "../../servers/cutting-proxy.js";
import { envFor, hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { keysBelow, sha256Of } from "../../store/bucket/bucket-helpers.js";
import { testExchange } from "./contract.js";
import {
  exchangeOptions,
  holdBucket,
  holdJob,
  openBucketEnvironment,
  ownPlanned,
  readInto,
  runId,
  take,
} from "./exchanges.js";

const token = "5fd3c9ab-0000-4000-8000-000000000001";

async function uploadsIn(bucket: Bucket): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.uploads("")) keys.push(key);
  return keys;
}

describe.skipIf(!hasS3)("the exchange of a job whose output is a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  testExchange(() => openBucketEnvironment(store), rounds(5, 100));

  test("a coordinator whose job was taken over changes nothing, and its successor has everything", async () => {
    const { bucket, leased, machine, openWorker } = await holdBucket(store);
    const own = await ownExchange(leased, runId);
    await own.write("plan.json", "old");
    const { attempt, files } = await readInto(await (await openWorker("worker")).of(runId), "1", { "1.a": "rows" });
    await attempt.submit(files, "{}");
    const ahead = await startStoreProxy(store);
    ahead.ageBy(125_000); // no heartbeat for two minutes
    const { job } = await machine("successor");
    const after = await ownExchange((await holdJob(job, ahead.env)).leased, runId);
    const keys = await keysBelow(bucket, "exchange/");
    for (const act of [
      () => own.write("plan.json", "late"),
      () => own.remove(),
      () => removeOtherExchanges(leased, undefined),
    ])
      await expect(act()).rejects.toThrow(LostError);
    expect(await keysBelow(bucket, "exchange/")).toEqual(keys);
    expect([await after.read("plan.json"), await after.names("results")]).toEqual(["old", ["1.json"]]);
  });

  test("a worker and a coordinator outlast a store that is gone for a while, as long as the job says", async () => {
    const { folder, bucket, leased, openWorker } = await holdBucket(store);
    const own = await ownPlanned(leased);
    const proxy = await startStoreProxy(store);
    const [patient, hasty] = [await openWorker("patient", proxy.env, 30), await openWorker("hasty", proxy.env, 0)];
    const attempts = [];
    for (const [index, worker] of [patient, hasty].entries())
      attempts.push(await readInto(await worker.of(runId), `${index}`, { a: "rows" }));
    const [one, two] = attempts.map(
      ({ attempt, files }) =>
        () =>
          attempt.submit(files, "{}"),
    );
    proxy.refuse(() => ({ status: 503, code: "SlowDown" }));
    await expect(two?.()).rejects.toThrow(StopError);
    const submitting = one?.();
    setTimeout(() => proxy.refuse(() => undefined), 2000);
    expect(await submitting).toBe("first");
    expect(await own.names("results")).toEqual(["0.json"]);
    expect(await two?.()).toBe("first");
    expect((await keysBelow(bucket, `exchange/${runId}/results/`)).length).toBe(2);
    expect(await readdir(join(folder, "hasty", "test", ".work"))).toHaveLength(1);
  });

  test("a result whose answers are all lost is found to be our own", async () => {
    const { leased, openWorker } = await holdBucket(store);
    const own = await ownPlanned(leased);
    const proxy = await startCuttingProxy(store.port);
    const worker = await openWorker("worker", envFor(proxy.url), 30);
    const { attempt } = await readInto(await worker.of(runId), "1", {});
    proxy.cutAnswers("PUT", 3); // the SDK sends a request at most three times
    expect(await attempt.submit([], "{}")).toBe("first");
    expect(proxy.cuts()).toBe(3);
    expect(await own.read("results/1.json")).toBe("{}");
  });

  test("a worker that was frozen before any of its requests changes nothing that counts", {
    timeout: 120_000,
  }, async () => {
    for (let at = 0; ; at++) {
      const { bucket, leased, openWorker } = await holdBucket(store);
      const own = await ownPlanned(leased);
      const [frozen, quick] = [await startStoreProxy(store), await openWorker("quick")];
      const slow = await openWorker("slow", frozen.env);
      const one = await readInto(await slow.of(runId), "1", { "1.a": "slow" });
      const two = await readInto(await quick.of(runId), "1", { "1.a": "quick" });
      const reached = frozen.holdAt(at);
      const submitting = one.attempt.submit(one.files, "slow");
      const name = await Promise.race([reached, submitting]);
      if (name === "first") return expect(at).toBeGreaterThan(3); // there is no request with this number
      expect(await two.attempt.submit(two.files, "quick"), name).toBe("first");
      const before = await own.read("results/1.json");
      await own.remove();
      frozen.letGo();
      const outcome = await submitting;
      expect(before).toBe("quick");
      // The worker found that the run was not over, and its result arrived after the end. The next coordinator removes the result,
      // and no reader uses it.
      if (outcome === "first") expect(name).toMatch(/^PUT .*\/results\/1\.json|^PUT .*\/1\.a/);
      expect(await beginAttempt(await slow.of(runId), "2")).toBeUndefined();
      await removeOtherExchanges(leased, undefined);
      expect(await keysBelow(bucket, "")).toEqual(["head.json"]);
    }
  });

  test("files that another program wrote among the results are ignored", async () => {
    const { bucket, leased, openWorker } = await holdBucket(store);
    const own = await ownPlanned(leased);
    const keys = ["results/1.json", "results/a b.json", "results/x/y.json", "results/.json"];
    for (const key of keys) await bucket.put(`exchange/${runId}/${key}`, Buffer.from('{"token":"x"}'));
    expect([...(await own.names("results"))].sort()).toEqual([".json", "1.json", "a b.json"]);
    expect(await own.read("results/1.json"), "nothing that can be accepted").toBe('{"token":"x"}');
    const { attempt } = await readInto(await (await openWorker("worker")).of(runId), "1", {});
    expect(await attempt.submit([], "{}")).toBe("late");
  });

  test("a large file is uploaded in parts and taken whole, and a worker that is late leaves none of it", async () => {
    const { folder, bucket, leased, openWorker } = await holdBucket(store);
    const own = await ownPlanned(leased);
    const exchange = await (await openWorker("worker")).of(runId);
    const bytes = randomBytes(17 * 1024 * 1024);
    const facts = { file: "1.a", bytes: bytes.length, sha256: sha256Of(bytes) };
    const [one, two] = [await readInto(exchange, "1", {}), await readInto(exchange, "1", {})];
    for (const { attempt } of [one, two]) await writeFile(join(attempt.folder, "1.a"), bytes);
    const outcomes = await Promise.all([one, two].map(({ attempt }) => attempt.submit([facts], attempt.token)));
    for (const { attempt } of [one, two]) await attempt.drop();
    const { attempt } = outcomes[0] === "first" ? one : two;
    expect([...outcomes].sort()).toEqual(["first", "late"]);
    expect(await keysBelow(bucket, `exchange/${runId}/attempts/`)).toEqual([
      `exchange/${runId}/attempts/1.${attempt.token}/1.a`,
    ]);
    expect(await take(own, attempt, facts, join(folder, "taken"))).toBe(true);
    const killed = await startStoreProxy(store);
    const slow = await readInto(await (await openWorker("slow", killed.env)).of(runId), "2", {});
    await writeFile(join(slow.attempt.folder, "1.a"), bytes);
    const reached = killed.holdWhere((request) => request.includes("partNumber=2"));
    const submitting = slow.attempt.submit([facts], "{}");
    await reached;
    expect(await uploadsIn(bucket)).toHaveLength(1);
    await own.remove();
    expect(await uploadsIn(bucket)).toEqual([]);
    killed.letGo();
    expect(await submitting).toBe("late");
    await removeOtherExchanges(leased, undefined);
    expect(await keysBelow(bucket, "")).toEqual(["head.json"]);
  });

  test("every command ignores an exchange; readers leave it, the next run of the job removes it", async () => {
    const environment = await openJobEnvironment(store);
    const [one, two] = [await environment.machine("pod-1"), await environment.machine("pod-2")];
    const stale = ["plan.json", "results/1.json", `attempts/1.${token}/manifest.json`, "head.json"];
    const places = ["", "shards/1-of-2/", "shards/2-of-2/"];
    await one.run({}, { index: 1, count: 2 });
    await two.run({}, { index: 2, count: 2 });
    const keys = places.flatMap((place) => stale.map((key) => `${place}exchange/${runId}/${key}`));
    for (const key of keys) await environment.bucket.put(key, Buffer.from("{}"));
    const left = async () => (await keysBelow(environment.bucket, "")).filter((key) => keys.includes(key));
    const job = `${environment.url}/test`;
    const env = { ...store.env, KBDUMP_COPIES: join(environment.folder, "copies") };
    const kbdump = (...words: readonly string[]) => runKbdump([...words, "--json"], env, environment.folder);
    const { code, stdout, stderr } = await kbdump("join", job, "--quiet");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const listed = await kbdump("list", job);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      jobs: [{ runs: [{ run_id: JSON.parse(stdout).run_id }], ignored: [] }],
    });
    expect(JSON.parse((await kbdump("list", "--out", environment.url)).stdout).jobs).toHaveLength(1);
    expect((await kbdump("verify", job)).code).toBe(0);
    expect((await kbdump("verify", `${job}/exchange/${runId}`)).code).toBe(2);
    expect(await left()).toEqual([...keys].sort());
    const third = await environment.machine("third", { keep: { last: 1 } });
    await third.run();
    await pruneJob(third.job, { env: third.env });
    expect(third.warnings).toEqual([]);
    expect(await left()).toEqual(keys.filter((key) => key.startsWith("shards/")).sort());
  });

  test("a missing bucket is named, with what to do", async () => {
    const { machine } = await holdBucket(store);
    const { job } = await machine("worker");
    const nowhere = { ...job, output: { ...job.output, bucket: "s3://no-such-bucket-here/team" } };
    const exchanges = await openExchanges(nowhere, { ...exchangeOptions, env: store.env });
    await expect((await exchanges.of(runId)).read("plan.json")).rejects.toThrow("there is no such bucket");
    await exchanges[Symbol.asyncDispose]();
  });
});
