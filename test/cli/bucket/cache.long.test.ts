import { mkdir, readdir, readFile, rename, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leaseInBucket } from "../../../src/store/bucket/lease.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { finished, startKbdump } from "../run-kbdump.js";
import { type DumpsInBucket, makeDumpsInBucket } from "./dumps-in-bucket.js";

const count = "SELECT count(*) AS chunks FROM chunks";

describe.skipIf(!hasS3)("copies of what is in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  const folderOf = ({ cache, environment }: DumpsInBucket) =>
    join(cache, environment.url.replace("s3://", "s3/"), "test");
  const holdOptions = { now: () => new Date(), log: () => {} };

  /** Lets a file look as if nobody had used it for an hour. */
  async function age(path: string): Promise<void> {
    const time = new Date(Date.now() - 3_600_000);
    await utimes(path, time, time);
  }

  test("a run is fetched once, and the database again only when it has changed", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, machine } = dumps;
    const proxy = await startStoreProxy(store);
    const objects = async (...words: readonly string[]) => {
      const before = proxy.requests.length;
      expect(await dumps.kbdump(words, proxy.env)).toMatchObject({ code: 0 });
      const fetched = proxy.requests.slice(before).filter((request) => request.startsWith("GET"));
      return fetched.map((request) => request.replace(/\?.*/, "").split("/").at(-1));
    };
    const whole = await objects("sql", `${job}@${ids[0]}`, count);
    expect(whole).toContain("chunks.jsonl");
    expect(whole.filter((name) => name === "manifest.json")).toHaveLength(2);
    expect(await objects("sql", `${job}@${ids[0]}`, count)).toEqual(["head.json"]);
    expect(await objects("sql", job, count)).toEqual(["head.json", "test.duckdb"]);
    expect(await objects("sql", job, count)).toEqual(["head.json"]);
    await machine.run();
    expect((await objects("sql", job, count)).sort()).toEqual(["head.json", "manifest.json", "test.duckdb"]);
  });

  test("a copy that was damaged is fetched again", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump } = dumps;
    const folder = join(folderOf(dumps), "runs", ids[0]);
    const words = ["sql", `${job}@${ids[0]}`, "FROM chunks", "--json"];
    const before = await kbdump(words);
    expect(before.code).toBe(0);
    await truncate(join(folder, "chunks.jsonl"), 10);
    await writeFile(join(folder, "manifest.json"), "{}");
    expect(await kbdump(words)).toEqual(before);
    const database = join(folderOf(dumps), "test.duckdb");
    const asked = await kbdump(["sql", job, count]);
    await rename(database, `${database}.old`);
    await writeFile(database, await readFile(`${database}.old`)); // the same bytes in a file that kbdump did not make
    await truncate(database, 100);
    expect(await kbdump(["sql", job, count])).toEqual(asked);
    expect((await readdir(join(folderOf(dumps), ".copy"))).sort()).toEqual(["database.json"]);
  });

  test("the copy that was not used for the longest time goes when there is no room; manifests and restores stay", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump, cached } = dumps;
    const folder = folderOf(dumps);
    expect((await kbdump(["sql", `${job}@${ids[0]}`, count])).code).toBe(0);
    const journal = `runs/${ids[0]}.restore/journal.jsonl`;
    await mkdir(dirname(join(folder, journal)));
    await writeFile(join(folder, journal), "{}\n");
    const { files } = JSON.parse(await readFile(join(folder, "runs", ids[0], "manifest.json"), "utf8"));
    const bytes: number = files.reduce((sum: number, file: { bytes: number }) => sum + file.bytes, 0);
    const limited = { KBDUMP_CACHE_SIZE: `${(bytes * 1.5) / 1000}kB` };
    const busy = await kbdump(["sql", `${job}@${ids[1]}`, count], limited);
    expect(busy).toMatchObject({ code: 2, stdout: "" });
    expect(busy.stderr).toContain(
      `${job}/runs/${ids[1]} does not fit beside the copies that commands used within the last 5 minutes`,
    );
    await age(join(folder, "runs", ids[0], "manifest.json"));
    const onItsWay = join(dirname(folder), "runs", ".copy", "other", "0");
    await mkdir(dirname(onItsWay), { recursive: true });
    await writeFile(onItsWay, Buffer.alloc(bytes));
    expect(await kbdump(["sql", `${job}@${ids[1]}`, count], limited)).toEqual(busy); // another process fetches just now
    await rm(onItsWay);
    expect((await kbdump(["sql", `${job}@${ids[1]}`, count], limited)).code).toBe(0);
    const left = await cached();
    expect(left.filter((path) => path.startsWith(`runs/${ids[0]}/`))).toEqual([`runs/${ids[0]}/manifest.json`]);
    expect(left).toContain(journal);
    expect(left).toContain(`runs/${ids[1]}/chunks.jsonl`);
    const refused = await kbdump(["sql", `${job}@${ids[1]}`, count], { KBDUMP_CACHE_SIZE: "1kB" });
    expect(refused.code).toBe(0); // it is there already
    const tooLarge = await kbdump(["sql", `${job}@${ids[0]}`, count], { KBDUMP_CACHE_SIZE: "1kB" });
    expect(tooLarge.code).toBe(2);
    expect(tooLarge.stderr).toContain(
      `kbdump: ${job}/runs/${ids[0]} has ${(bytes / 1000).toFixed(1)} kB, and KBDUMP_CACHE_SIZE allows 1.0 kB for copies of buckets`,
    );
  });

  test("a run that head.json does not list any more is gone from the copies, too, but for what was restored from it", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump, environment, cached } = dumps;
    expect((await kbdump(["sql", `${job}@${ids[0]}`, count])).code).toBe(0);
    await mkdir(join(folderOf(dumps), "runs", `${ids[0]}.restore`));
    const leased = await leaseInBucket(environment.bucket, holdOptions);
    await leased.dropRuns([ids[0]]);
    await leased.release();
    const listed = JSON.parse((await kbdump(["list", job, "--json"])).stdout).jobs[0];
    expect(listed.runs.map((run: { run_id: string }) => run.run_id)).toEqual([ids[1]]);
    const asked = await kbdump(["sql", `${job}@${ids[0]}`, count]);
    expect(asked).toMatchObject({ code: 2 });
    expect(asked.stderr).toContain(`no run ${ids[0]} in ${job}/runs; the newest there: ${ids[1]}`);
    await age(join(folderOf(dumps), "runs", ids[0], "manifest.json"));
    await kbdump(["list", job]);
    expect(await cached()).toEqual([`runs/${ids[1]}/manifest.json`]);
    expect(await readdir(join(folderOf(dumps), "runs"))).toContain(`${ids[0]}.restore`);
  });

  test("a run that is removed while it is fetched: the error says so, and no half copy is left", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, kbdump, environment, cached } = dumps;
    const proxy = await startStoreProxy(store);
    const held = proxy.holdWhere((request) => request.includes("chunks.jsonl"));
    const asked = kbdump(["sql", `${job}@${ids[0]}`, count], proxy.env);
    await held;
    const leased = await leaseInBucket(environment.bucket, holdOptions);
    const folder = leased.head().runs[0]?.folder;
    await leased.dropRuns([ids[0]]);
    await leased.release();
    for await (const { key } of environment.bucket.list(`${folder}/`)) await environment.bucket.remove([key]);
    proxy.letGo();
    const { code, stderr } = await asked;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `kbdump: ${job}/runs/${ids[0]} was removed while it was fetched: its head.json does not list it any more. Take another run; kbdump list ${job} shows those that are left\n`,
    });
    expect((await cached()).filter((path) => !path.endsWith("manifest.json"))).toEqual([]);
    expect(await readdir(join(folderOf(dumps), ".copy"))).toEqual([]);
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

  test("two processes at once fetch the same run and database, and both answer", async () => {
    const { job, ids, env } = await makeDumpsInBucket(store);
    const start = (place: string) => finished(startKbdump(["sql", place, count, "--format", "csv"], env));
    const answers = await Promise.all([`${job}@${ids[1]}`, `${job}@${ids[1]}`, job, job].map(start));
    for (const answer of answers) expect(answer).toMatchObject({ code: 0, stderr: "", stdout: "chunks\n9\n" });
  });

  test("SIGINT ends a fetch at once, with no half copy; what a killed process left goes after an hour", async () => {
    const dumps = await makeDumpsInBucket(store);
    const { job, ids, env, kbdump } = dumps;
    const aside = join(folderOf(dumps), ".copy");
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
      expect(await readdir(aside)).toHaveLength(signal === "SIGINT" ? 0 : 1);
    }
    const [left = ""] = await readdir(aside);
    await kbdump(["list", job]);
    expect(await readdir(aside)).toEqual([left]);
    for (const name of await readdir(join(aside, left))) await age(join(aside, left, name));
    await age(join(aside, left));
    await kbdump(["list", job]);
    expect(await readdir(aside)).toEqual([]);
    expect((await kbdump(["sql", `${job}@${ids[0]}`, count])).code).toBe(0);
  });
});
