import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BusyError, InterruptedError, LostError, StopError } from "../../../src/errors.js";
import { hasS3, secretKey, startMoto, type TestStore } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { keysBelow } from "../../store/bucket/bucket-helpers.js";
import { openBucketEnvironment } from "./bucket-job.js";

describe.skipIf(!hasS3)("a bucket that fails", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test.each([
    ["InvalidAccessKeyId", 403, "the store does not know this access key"],
    ["NoSuchBucket", 404, "there is no such bucket"],
    ["AccessDenied", 403, "these credentials do not allow that"],
  ])("%s is said before the crawl", async (code, status, says) => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    proxy.refuse(() => ({ status, code }));
    const { run } = await environment.machine("one", {}, proxy.env);
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StopError);
    expect(String(error)).toContain(says);
    expect(String(error)).not.toContain(secretKey);
    expect(environment.server.requests.length).toBe(0);
  });

  test.each([
    ["full", { status: 507, code: "QuotaExceeded" }, /the bucket is full/],
    ["gone", null, /cannot write s3:.*chunks\.jsonl/],
  ])(
    "a bucket that is %s in the middle of the upload: no dump, nothing left, and the next run resumes",
    async (_name, refusal, says) => {
      const environment = await openBucketEnvironment(store);
      const proxy = await startStoreProxy(store);
      const one = await environment.machine("one", {}, proxy.env);
      const first = await one.run();
      proxy.refuse((request) =>
        /^PUT .*\/documents\.jsonl/.test(request) || /^PUT .*\/chunks\.jsonl/.test(request) ? refusal : undefined,
      );
      const states: string[] = [];
      await expect(one.run({ onCommit: (state) => states.push(state) })).rejects.toThrow(says);
      expect(states).toEqual([]);
      const { runs, owner } = await environment.head();
      expect(runs.map(({ run_id }) => run_id)).toEqual([first.manifest.run_id]);
      expect(owner?.released).toBe(true);
      expect(new Set((await keysBelow(environment.bucket, "runs/")).map((key) => key.split("/", 2).join("/")))).toEqual(
        new Set([runs[0]?.folder]),
      );
      proxy.refuse(() => undefined);
      const asked = environment.server.requests.length;
      const second = await one.run();
      expect(second.status).toBe("complete");
      expect(environment.server.requests.length - asked).toBeLessThan(asked / 2); // resumes the documents
      await environment.fetched(second.manifest.run_id);
    },
  );

  test("an endpoint that is gone for good ends the run soon, with the reason", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const one = await environment.machine("one", {}, proxy.env);
    let isGone = false;
    proxy.refuse((request) => {
      isGone ||= /^PUT .*\/chunks\.jsonl/.test(request);
      return isGone ? null : undefined;
    });
    const start = performance.now();
    await expect(one.run()).rejects.toThrow(/^cannot write s3:.*\.jsonl: /);
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(one.warnings.at(-1)).toMatch(/^the lease of the bucket could not be released: /);
    expect((await environment.head()).runs).toEqual([]);
  });

  test.each([
    ["no answer", null],
    ["503", { status: 503, code: "SlowDown" }],
  ])(
    "a store that is gone for a while (%s) is waited for: the upload and the commit take place",
    async (_name, refusal) => {
      const environment = await openBucketEnvironment(store);
      const proxy = await startStoreProxy(store);
      const one = await environment.machine("one", {}, proxy.env, 60);
      const left = new Map([
        ["chunks.jsonl", 4],
        ["head.json", 4],
      ]);
      let isUploaded = false;
      proxy.refuse((request) => {
        isUploaded ||= /^PUT .*\/manifest\.json/.test(request);
        const name = /^PUT .*\/([\w.]+)\?/.exec(request)?.[1] ?? "";
        const refusals = name === "head.json" && !isUploaded ? 0 : (left.get(name) ?? 0);
        left.set(name, refusals > 0 ? refusals - 1 : (left.get(name) ?? 0));
        return refusals > 0 ? refusal : undefined;
      });
      const { status, manifest } = await one.run();
      expect(status).toBe("complete");
      expect([left.get("chunks.jsonl"), left.get("head.json")]).toEqual([0, 0]);
      expect(one.warnings[0]).toMatch(/^cannot write s3:.*\/chunks\.jsonl: .*; next try in 1 s$/);
      await environment.fetched(manifest.run_id);
      expect((await environment.head()).latest).toBe(manifest.run_id);
    },
  );

  test("a commit whose answer is lost, because the store is gone, is reported as uncertain", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const one = await environment.machine("one", {}, proxy.env);
    let isUploaded = false;
    proxy.refuse((request) => {
      const isCommit = isUploaded && /^PUT .*\/head\.json/.test(request);
      isUploaded ||= /^PUT .*\/manifest\.json/.test(request);
      return isCommit ? null : undefined;
    });
    await expect(one.run()).rejects.toThrow(
      `. The run may have been published nevertheless: kbdump list ${environment.url}/test shows that`,
    );
  });

  test("if uploads cannot be listed, old runs are still removed, with a warning", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    proxy.refuse((request) => (/[?&]uploads/.test(request) ? { status: 501, code: "NotImplemented" } : undefined));
    const one = await environment.machine("one", { keep: { last: 1 } }, proxy.env);
    await one.run();
    const { pruned } = await one.run();
    expect(pruned.length).toBe(1);
    expect(one.warnings.join("\n")).toMatch(/what earlier runs left in s3:.* the store does not support this request/);
    const folders = new Set((await keysBelow(environment.bucket, "runs/")).map((key) => key.split("/", 2).join("/")));
    expect(folders).toEqual(new Set((await environment.head()).runs.map(({ folder }) => folder)));
  });

  test("an interruption in the middle of the upload ends it, and lets the job go", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const one = await environment.machine("one", {}, proxy.env);
    const interrupted = new AbortController();
    proxy.refuse((request) => {
      if (/^PUT .*\/chunks\.jsonl/.test(request)) interrupted.abort(new InterruptedError("SIGTERM"));
      return undefined;
    });
    await expect(one.run({ signal: interrupted.signal })).rejects.toBeInstanceOf(InterruptedError);
    expect(await environment.head()).toMatchObject({ runs: [], owner: { released: true } });
    expect(await keysBelow(environment.bucket, "runs/")).toEqual([]);
    expect((await one.run()).status).toBe("complete");
  });

  test("a database that cannot be written makes the run partial, and the next run mends it", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const one = await environment.machine("one", { formats: ["duckdb"] }, proxy.env);
    const ids = [(await one.run()).manifest.run_id];
    proxy.refuse((request) => (/^PUT .*\.duckdb/.test(request) ? { status: 507, code: "QuotaExceeded" } : undefined));
    const { status, problems, manifest } = await one.run();
    ids.push(manifest.run_id);
    expect(status).toBe("partial");
    expect(problems).toEqual([
      expect.stringMatching(
        /^s3:\/\/.*test\.duckdb could not be replaced \(.*the bucket is full.*\); the next run does it$/,
      ),
    ]);
    expect(await environment.inDatabase("SELECT run_id FROM runs ORDER BY 1")).toEqual(ids.slice(0, 1));
    proxy.refuse(() => undefined);
    ids.push((await one.run()).manifest.run_id);
    expect(await environment.inDatabase("SELECT run_id FROM runs ORDER BY 1")).toEqual(ids);
  });

  test("of 20 racing runs on 20 machines one wins, and its dump is sound", async () => {
    const environment = await openBucketEnvironment(store);
    const machines = await Promise.all(Array.from({ length: 20 }, (_, at) => environment.machine(`m${at}`)));
    const results = await Promise.allSettled(machines.map(({ run }) => run()));
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.manifest.run_id] : []));
    for (const result of results)
      if (result.status === "rejected")
        expect(result.reason instanceof BusyError || result.reason instanceof LostError, String(result.reason)).toBe(
          true,
        );
    expect(won.length).toBeGreaterThan(0);
    expect((await environment.head()).runs.map(({ run_id }) => run_id)).toEqual(won.sort());
    for (const runId of won) await environment.fetched(runId);
  });

  test("work that another machine overtook is not continued", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const [one, two] = [await environment.machine("one", {}, proxy.env), await environment.machine("two")];
    proxy.refuse((request) =>
      /^PUT .*\/chunks\.jsonl/.test(request) ? { status: 507, code: "QuotaExceeded" } : undefined,
    );
    await expect(one.run()).rejects.toThrow("the bucket is full");
    proxy.refuse(() => undefined);
    const other = (await two.run()).manifest.run_id;
    const said: string[] = [];
    const { manifest } = await one.run({ log: (_level, text) => said.push(text) });
    expect(said.join("\n")).toContain(`is not continued: run ${other} was published since`);
    expect(manifest.run_id > other).toBe(true);
    expect(await environment.inDatabase("SELECT run_id FROM runs ORDER BY 1")).toEqual([other, manifest.run_id]);
  });
});
