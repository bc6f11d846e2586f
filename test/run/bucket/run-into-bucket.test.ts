import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UsageError } from "../../../src/errors.js";
import { runJob } from "../../../src/run/run-job.js";
import { faultyStores, hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { keysBelow, openAt } from "../../store/bucket/bucket-helpers.js";
import { filesInWork, openBucketEnvironment, stableTexts } from "./bucket-job.js";

describe.skipIf(!hasS3)("a run into a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("is the same run as in a folder, listed by head.json, and leaves only manifests in the work folder", async () => {
    const environment = await openBucketEnvironment(store);
    const machine = await environment.machine("one");
    const { status, folder, database, problems, manifest } = await machine.run();
    expect({ status, problems, warnings: machine.warnings }).toEqual({
      status: "complete",
      problems: [],
      warnings: [],
    });
    expect(folder).toBe(`${environment.url}/test/runs/${manifest.run_id}`);
    expect(database).toBe(`${environment.url}/test/test.duckdb`);
    const local = await runJob(
      { ...machine.job, output: { ...machine.job.output, bucket: undefined, dir: join(environment.folder, "local") } },
      { env: machine.env },
    );
    expect(await stableTexts(await environment.fetched(manifest.run_id))).toEqual(await stableTexts(local.folder));
    const { latest, runs, owner } = await environment.head();
    expect({ latest, status: runs[0]?.status, released: owner?.released }).toEqual({
      latest: manifest.run_id,
      status: "complete",
      released: true,
    });
    expect(await filesInWork(machine)).toEqual([`${manifest.run_id}/manifest.json`]);
    expect(await readdir(join(machine.job.output.dir, "test"))).toEqual([
      ".work",
      "latest",
      "metrics.prom",
      "runs",
      "test.duckdb",
    ]);
    expect(await readdir(join(machine.job.output.dir, "test", ".work"))).toEqual(["bucket", "indexing_status"]);
    expect((await keysBelow(environment.bucket, "")).map((key) => key.split("/")[0])).toContain("test.duckdb");
    expect(await keysBelow(environment.bucket, "try")).toEqual([]);
  });
});

describe.skipIf(!hasS3).each(faultyStores)("a store that ignores conditions: $name", ({ start }) => {
  test("is refused before the crawl", async () => {
    const store = await start();
    try {
      const environment = await openBucketEnvironment(store);
      const strict = await environment.machine("one");
      const refused = strict.run();
      await expect(refused).rejects.toBeInstanceOf(UsageError);
      await expect(refused).rejects.toThrow(/ignores If-None-Match.* Use a store with conditional writes/);
      expect(environment.server.requests.length).toBe(0);
      expect(await keysBelow(await openAt(store, environment.url), "")).toEqual([]);
    } finally {
      await store.stop();
    }
  });
});
