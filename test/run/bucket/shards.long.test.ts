import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runJob } from "../../../src/run/run-job.js";
import { runKbdump } from "../../cli/run-kbdump.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { openBucketEnvironment, stableTexts } from "./bucket-job.js";

describe.skipIf(!hasS3)("shards in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  test("each has its own head below that of the job, and they are joined in the same place", async () => {
    const environment = await openBucketEnvironment(store);
    const { job, env } = await environment.machine("whole");
    const output = { ...job.output, bucket: undefined };
    const whole = await runJob({ ...job, output }, { env });
    const folders: string[] = [];
    for (const index of [1, 2]) {
      const machine = await environment.machine(`pod-${index}`);
      const place = `shards/${index}-of-2/`;
      const { folder, manifest } = await machine.run({}, { index, count: 2 });
      expect(folder).toBe(`${environment.url}/test/${place}runs/${manifest.run_id}`);
      expect((await environment.head(place)).latest).toBe(manifest.run_id);
      folders.push(await environment.fetched(manifest.run_id, place));
    }
    expect(await environment.bucket.read("head.json")).toBeUndefined();

    const words = ["join", ...folders, "--out", environment.url, "--json", "--quiet"];
    const { code, stdout, stderr } = await runKbdump(words, env, environment.folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { latest, runs } = await environment.head();
    expect(JSON.parse(stdout).folder).toBe(`${environment.url}/test/runs/${latest}`);
    expect(runs.map(({ run_id }) => run_id)).toEqual([latest]);
    expect(await stableTexts(await environment.fetched(latest ?? ""))).toEqual(await stableTexts(whole.folder));
    expect(await environment.inDatabase("SELECT run_id FROM runs")).toEqual([latest]);
    for (const index of [1, 2]) expect((await environment.head(`shards/${index}-of-2/`)).runs.length).toBe(1);
  });
});
