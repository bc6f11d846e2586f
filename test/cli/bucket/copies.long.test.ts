import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leaseInBucket, withoutRun } from "../../../src/store/bucket/head.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { finished, startKbdump } from "../run-kbdump.js";
import { makeDumpsInBucket } from "./dumps-in-bucket.js";

const count = "SELECT count(*) AS chunks FROM chunks";

describe.skipIf(!hasS3)("local copies of files in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("a command downloads what it needs once, and leaves nothing", async () => {
    const { job, ids, kbdump, copies } = await makeDumpsInBucket(store);
    const proxy = await startStoreProxy(store);
    const objects = async (...words: readonly string[]) => {
      const before = proxy.requests.length;
      expect((await kbdump(words, proxy.env)).code).toBeOneOf([0, 4]);
      expect(await copies()).toEqual([]);
      const fetched = proxy.requests.slice(before).filter((request) => request.startsWith("GET"));
      return fetched.map((request) => request.replace(/\?.*/, "").split("/").at(-1)).sort();
    };
    const rows = ["child_chunks", "chunks", "documents", "indexing_status", "metadata_fields"];
    const files = rows.map((kind) => `${kind}.jsonl`);
    const run = [...files, "head.json", "manifest.json"].sort();
    expect(await objects("sql", `${job}@${ids[0]}`, count)).toEqual(run);
    expect(await objects("sql", job, count)).toEqual(["head.json", "test.duckdb"]);
    expect(await objects("list", job)).toEqual(["", "head.json", "manifest.json", "manifest.json"]);
    const both = await objects("diff", job);
    for (const file of files) expect(both.filter((name) => name === file)).toHaveLength(2);
    expect((await objects("diff", job, job)).filter((name) => name === "chunks.jsonl")).toHaveLength(1);
  });

  test("a run that is removed while it is fetched: the error says so", async () => {
    const { job, ids, kbdump, environment, copies } = await makeDumpsInBucket(store);
    const proxy = await startStoreProxy(store);
    const held = proxy.holdWhere((request) => request.includes("chunks.jsonl"));
    const asked = kbdump(["sql", `${job}@${ids[0]}`, count], proxy.env);
    await held;
    const leased = await leaseInBucket(environment.bucket, { now: () => new Date(), log: () => {} });
    const folder = leased.head().runs[0]?.folder;
    await leased.change((head) => withoutRun(head, ids[0]));
    await leased.release();
    for await (const { key } of environment.bucket.list(`${folder}/`)) await environment.bucket.remove([key]);
    proxy.letGo();
    const { code, stderr } = await asked;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `kbdump: ${job}/runs/${ids[0]} was removed while it was fetched: its head.json does not list it any more. Use another run; kbdump list ${job} shows those that are left\n`,
    });
    expect(await copies()).toEqual([]);
    const later = await kbdump(["sql", `${job}@${ids[0]}`, count]);
    expect(later).toMatchObject({ code: 2 });
    expect(later.stderr).toContain(`no run ${ids[0]} in ${job}/runs; the newest there: ${ids[1]}`);
  });

  test("a database that a run replaces while it is fetched is fetched again", async () => {
    const { job, kbdump, machine } = await makeDumpsInBucket(store);
    const proxy = await startStoreProxy(store);
    const held = proxy.holdWhere((request) => request.startsWith("GET") && request.includes("test.duckdb"));
    const asked = kbdump(["sql", job, "SELECT count(*) AS runs FROM runs", "--format", "csv"], proxy.env);
    await held;
    await machine.run();
    proxy.letGo();
    expect(await asked).toEqual({ code: 0, stderr: "", stdout: "runs\n3\n" });
  });

  test("two processes at once copy the same run and database, and both answer", async () => {
    const { job, ids, env, copies } = await makeDumpsInBucket(store);
    const start = (place: string) => finished(startKbdump(["sql", place, count, "--format", "csv"], env));
    const answers = await Promise.all([`${job}@${ids[1]}`, `${job}@${ids[1]}`, job, job].map(start));
    for (const answer of answers) expect(answer).toMatchObject({ code: 0, stderr: "", stdout: "chunks\n9\n" });
    expect(await copies()).toEqual([]);
  });

  test("SIGINT ends a download at once and leaves nothing; the next command removes files of a killed process", async () => {
    const { job, ids, env, kbdump, copies, root } = await makeDumpsInBucket(store);
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const proxy = await startStoreProxy(store);
      const held = proxy.holdWhere((request) => request.includes("chunks.jsonl"));
      const child = startKbdump(["sql", `${job}@${ids[0]}`, count], { ...env, ...proxy.env });
      const ended = finished(child);
      await held;
      const start = performance.now();
      child.kill(signal);
      expect((await ended).code).toBe(signal === "SIGINT" ? 130 : null);
      expect(performance.now() - start).toBeLessThan(3_000);
      expect(await readdir(root)).toHaveLength(signal === "SIGINT" ? 0 : 1);
    }
    await kbdump(["list", job]);
    expect(await copies()).toEqual([]);
    expect((await kbdump(["sql", `${job}@${ids[0]}`, count])).code).toBe(0);
  });
});
