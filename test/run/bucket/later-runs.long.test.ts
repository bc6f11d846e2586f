import { rm } from "node:fs/promises";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BusyError } from "../../../src/errors.js";
import type { DatasetJob } from "../../../src/job/job.js";
import { pruneJob } from "../../../src/run/prune-job.js";
import { runJob } from "../../../src/run/run-job.js";
import { takeStatus } from "../../../src/status/capture-status.js";
import { verifyRun } from "../../../src/verify/verify-run.js";
import { runHere } from "../../cli/run-here.js";
import { query } from "../../database/query.js";
import { addChunks } from "../../servers/edits.js";
import { hasS3, secretKey, startMoto, type TestStore } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { keysBelow } from "../../store/bucket/bucket-helpers.js";
import { filesInWork, openBucketEnvironment } from "./bucket-job.js";

const allRuns = "SELECT run_id FROM runs ORDER BY 1";

describe.skipIf(!hasS3)("runs in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("continues on any machine: history, keep and prune", async () => {
    const environment = await openBucketEnvironment(store);
    const [one, two] = [await environment.machine("one"), await environment.machine("two", { keep: { last: 2 } })];
    const first = await one.run();
    addChunks(environment.documents[0], 2, { children: 1, seed: 99 });
    const second = await two.run();
    expect(await environment.inDatabase(allRuns)).toEqual([first.manifest.run_id, second.manifest.run_id]);
    const third = await one.run();
    const fourth = await two.run();
    const ids = [third, fourth].map(({ manifest }) => manifest.run_id);
    expect(fourth.pruned).toEqual([second.manifest.run_id, first.manifest.run_id]);
    const { runs, latest } = await environment.head();
    expect(runs.map(({ run_id }) => run_id)).toEqual(ids);
    expect(latest).toBe(fourth.manifest.run_id);
    expect(new Set((await keysBelow(environment.bucket, "runs/")).map((key) => key.split("/")[1]))).toEqual(
      new Set(runs.map(({ folder }) => folder.split("/")[1])),
    );
    expect((await environment.inDatabase(allRuns)).length).toBe(4);
    const strict = await environment.machine("three", { keep: { last: 1 } });
    const dry = await pruneJob(strict.job, { env: strict.env, dryRun: true });
    expect(dry.runs.map(({ runId, keep }) => [runId, keep])).toEqual([
      [ids[1], true],
      [ids[0], false],
    ]);
    expect((await environment.head()).runs.length).toBe(2);
    expect(await runHere(["prune", strict.file], strict.env)).toMatchObject({ code: 0 });
    expect((await environment.head()).runs.map(({ run_id }) => run_id)).toEqual([ids[1]]);
    await environment.fetched(ids[1] ?? "");
    await one.run();
    expect((await filesInWork(one)).length).toBe(2); // runs that the head does not list are removed from the work folder
  });

  test("a folder with its own runs does not become a work folder, and a work folder no output folder", async () => {
    const environment = await openBucketEnvironment(store);
    const one = await environment.machine("one");
    const local = { ...one.job, output: { ...one.job.output, bucket: undefined } };
    const { folder } = await runJob(local, { env: one.env });
    await expect(one.run()).rejects.toThrow(
      `${join(one.job.output.dir, "test")} holds runs or a database of its own, which a work folder of ${environment.url}/test would remove. Let output.work_dir name another folder`,
    );
    expect((await verifyRun(folder)).findings).toEqual([]);
    expect(await keysBelow(environment.bucket, "")).toEqual([]);

    const two = await environment.machine("two");
    await two.run();
    const mine = `${join(two.job.output.dir, "test")} is the work folder of ${environment.url}/test. Let `;
    const elsewhere = { ...two.job, output: { ...two.job.output, bucket: `${environment.url}/other` } };
    await expect(runJob(elsewhere, { env: two.env })).rejects.toThrow(`${mine}output.work_dir name another folder`);
    const here = { ...two.job, output: { ...two.job.output, bucket: undefined } };
    await expect(runJob(here, { env: two.env })).rejects.toThrow(`${mine}output.dir name another folder`);
    expect((await two.run()).status).toBe("complete");
  });

  test.each(["gone", "damaged"])("a manifest that is %s stops no run, and no prune", async (how) => {
    const environment = await openBucketEnvironment(store);
    const first = await (await environment.machine("one")).run();
    const [listed] = (await environment.head()).runs;
    const key = `${listed?.folder}/manifest.json`;
    if (how === "gone") await environment.bucket.remove([key]);
    else await environment.bucket.put(key, Buffer.from("{}"));
    const two = await environment.machine("two", { keep: { last: 1 } });
    const { status, manifest, pruned } = await two.run();
    expect([status, pruned]).toEqual(["complete", []]);
    const says = `run ${first.manifest.run_id} is damaged, and stays as it is: `;
    expect(two.warnings.filter((text) => text.startsWith(says))).toHaveLength(1);
    expect((await environment.head()).runs.map(({ run_id }) => run_id)).toEqual([
      first.manifest.run_id,
      manifest.run_id,
    ]);
    const dry = await pruneJob(two.job, { env: two.env, dryRun: true });
    expect(dry.runs.map(({ runId }) => runId)).toEqual([manifest.run_id]);
    await environment.fetched(manifest.run_id);
  });

  test("builds the database from the runs if the bucket has none, and follows an existing one", async () => {
    const environment = await openBucketEnvironment(store);
    const one = await environment.machine("one");
    const ids = [(await one.run()).manifest.run_id, (await one.run()).manifest.run_id];
    await environment.bucket.remove(["test.duckdb"]);
    ids.push((await one.run()).manifest.run_id);
    expect(await environment.inDatabase(allRuns)).toEqual(ids);
    const aside = join(one.job.output.dir, "test", "test.duckdb.aside");
    expect(one.warnings).toEqual([
      `${environment.url}/test/test.duckdb is gone, and is built again from the runs that are left. Its last copy is kept as ${aside}`,
    ]);
    expect((await query(allRuns, aside)).flat()).toEqual(ids.slice(0, 2));
    const older = (await environment.bucket.read("test.duckdb"))?.bytes;
    ids.push((await one.run()).manifest.run_id);
    await putDirectly(environment.url, older); // as if a user restored an older copy
    ids.push((await one.run()).manifest.run_id);
    expect(await environment.inDatabase(allRuns)).toEqual(ids);
    await rm(one.job.output.dir, { recursive: true });
    ids.push((await one.run()).manifest.run_id);
    expect(await environment.inDatabase(allRuns)).toEqual(ids);
  });

  async function putDirectly(url: string, bytes: Buffer | undefined): Promise<void> {
    const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]+)\/(.*)$/.exec(url) ?? [];
    const credentials = { accessKeyId: "access", secretAccessKey: secretKey };
    const client = new S3Client({ endpoint: store.endpoint, forcePathStyle: true, region: "us-east-1", credentials });
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}/test/test.duckdb`, Body: bytes ?? "" }));
    client.destroy();
  }

  test("kbdump run says s3://, and writes report.html there, compared with the run before", async () => {
    const environment = await openBucketEnvironment(store);
    const { file, env, job } = await environment.machine("one");
    expect(await runHere(["run", file, "--quiet"], env)).toMatchObject({ code: 0, stderr: "" });
    const { code, stdout, stderr } = await runHere(["run", file, "--report", "--quiet"], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll("\n", "")).toContain(`sql ${environment.url}/test `);
    expect(stdout).not.toContain(job.output.dir);
    const page = (await environment.bucket.read("report.html"))?.bytes.toString() ?? "";
    for (const { run_id } of (await environment.head()).runs) expect(page).toContain(run_id);
  });

  test("readings of kbdump status go into the database of the bucket", async () => {
    const environment = await openBucketEnvironment(store);
    const { job, env, run } = await environment.machine("one");
    await run();
    const datasets = [{ ...(job.datasets[0] as DatasetJob), batches: ["2026"] }];
    const withBatch = { ...job, datasets };
    const before = (await environment.bucket.look("test.duckdb"))?.etag;
    const { added, database } = await takeStatus(withBatch, { env });
    expect([added, database]).toEqual([true, `${environment.url}/test/test.duckdb`]);
    expect((await environment.bucket.look("test.duckdb"))?.etag).not.toBe(before);
    expect(await environment.inDatabase("SELECT count(*)::INTEGER FROM indexing_status")).toEqual([2]);
  });

  test("while another process owns the job, a run names it and changes nothing", async () => {
    const environment = await openBucketEnvironment(store);
    const proxy = await startStoreProxy(store);
    const [one, two] = [await environment.machine("one", {}, proxy.env), await environment.machine("two")];
    const uploads = proxy.holdWhere((request) => /^PUT .*\/chunks\.jsonl/.test(request));
    const running = one.run();
    await uploads;
    await expect(two.run()).rejects.toBeInstanceOf(BusyError);
    const { code, stderr } = await runHere(["run", two.file, "--quiet"], two.env);
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /another run of this job is active: process \d+ on \S+ since .* Wait for its end, or end it there/,
    );
    expect((await environment.head()).runs).toEqual([]);
    proxy.letGo();
    expect((await running).status).toBe("complete");
    expect((await environment.head()).runs.length).toBe(1);
  });
});
