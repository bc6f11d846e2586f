import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BucketEnvironment, openBucketEnvironment, stableTexts } from "../../run/bucket/bucket-job.js";
import { hasS3, startMoto, type TestStore } from "../../servers/start-s3.js";
import { runKbdump } from "../run-kbdump.js";

describe.skipIf(!hasS3)("join of shards in a bucket", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startMoto();
  });
  afterAll(() => store.stop());

  /** Runs some of two shards, each on its own machine; returns the run ids. */
  async function runShards(environment: BucketEnvironment, indexes: readonly number[]): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const index of indexes) {
      const machine = await environment.machine(`pod-${index}`);
      ids.push((await machine.run({}, { index, count: 2 })).manifest.run_id);
    }
    return ids;
  }

  /** Runs `kbdump join` with its own working directory and its own folder for copies. */
  async function joinIn(environment: BucketEnvironment, words: readonly string[]) {
    const copies = join(environment.folder, "copies");
    const { code, stdout, stderr } = await runKbdump(
      ["join", ...words, "--json", "--quiet"],
      { ...store.env, KBDUMP_COPIES: copies },
      environment.folder,
    );
    expect(stdout + stderr).not.toContain(copies);
    return { code, stderr, result: stdout === "" ? undefined : JSON.parse(stdout) };
  }

  test("takes the newest run of each shard, however they are named, and publishes in the same place", async () => {
    const environment = await openBucketEnvironment(store);
    const [first = "", second = ""] = await runShards(environment, [1, 2]);
    const job = `${environment.url}/test`;
    const places = [`${job}/shards/1-of-2`, `${job}/shards/2-of-2`] as const;
    const shards = [
      { index: 1, run_id: first, folder: `${places[0]}/runs/${first}` },
      { index: 2, run_id: second, folder: `${places[1]}/runs/${second}` },
    ];
    const machine = await environment.machine("whole");
    const ways = [
      [job],
      ["test", "--out", environment.url],
      [machine.file],
      places,
      [`${places[0]}@${first}`, `${places[1]}/runs/${second}`],
    ];
    const { folder } = await machine.run();
    const texts = await stableTexts(await environment.fetched(basename(folder)));
    for (const words of ways) {
      const { code, stderr, result } = await joinIn(environment, words);
      expect({ code, stderr }, words.join(" ")).toEqual({ code: 0, stderr: "" });
      expect(result).toMatchObject({ status: "complete", shards });
      const { latest } = await environment.head();
      expect(result.folder).toBe(`${job}/runs/${latest}`);
      expect(await stableTexts(await environment.fetched(latest ?? ""))).toEqual(texts);
    }
    const known = await readdir(join(machine.job.output.dir, "test", "runs"));
    expect(known).toHaveLength(4); // the run of the whole job, and those that the joins made; the last join read the job file
  });

  test("names missing shards, folders that are not shards, and missing folders", async () => {
    const environment = await openBucketEnvironment(store);
    const job = `${environment.url}/test`;
    const { stderr: nothing, code } = await joinIn(environment, [job]);
    expect(code).toBe(2);
    expect(nothing).toContain(`${job}: there is no head.json in it; no job is in ${environment.url}`);
    const [first] = await runShards(environment, [1]);
    const env = { ...store.env, KBDUMP_COPIES: join(environment.folder, "copies") };
    const verified = await runKbdump(["verify", job], env, environment.folder);
    expect(verified.stderr).toContain(`${job}: there is no head.json in it; it has shards only; kbdump join ${job}`);
    const one = await joinIn(environment, [job]);
    expect(one).toMatchObject({ code: 1 });
    expect(one.stderr).toContain(
      `shard 2 of 2 is missing; make it: kbdump run test.yaml --shard 2/2 --out ${environment.url}`,
    );
    const twice = await joinIn(environment, [job, `${job}/shards/1-of-2`]);
    expect(twice.stderr).toContain(`shard 1 of 2 is there twice: ${job}/shards/1-of-2/runs/${first}`);
    const { folder } = await (await environment.machine("whole")).run();
    const listed = await runKbdump(["list", job, "--json"], env, environment.folder);
    expect(JSON.parse(listed.stdout).jobs[0].shards).toEqual([
      { count: 2, with_run: 1, missing: [2], newest_run_id: first },
    ]);
    const whole = await joinIn(environment, [folder]);
    expect(whole).toMatchObject({ code: 2 });
    expect(whole.stderr).toContain(`${folder}: it is not a shard: it was made without --shard`);
    await runShards(environment, [2]);
    const { runs } = await environment.head("shards/2-of-2/");
    const list = `shards/2-of-2/${runs[0]?.folder}/list.json`;
    await environment.bucket.put(list, Buffer.from("{}"));
    const damaged = await joinIn(environment, [job]);
    expect(damaged).toMatchObject({ code: 1 });
    expect(damaged.stderr).toContain(`${job}/${list} is not what was uploaded`);
  });
});
