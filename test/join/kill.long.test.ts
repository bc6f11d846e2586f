import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifyRun } from "../../src/verify/verify-run.js";
import { finished, runKbdump, startKbdump } from "../cli/run-kbdump.js";
import { rounds } from "../rounds.js";
import { allOf } from "../run/shards/sharding.js";
import { expectSameFiles, expectSameState, startJoining } from "./joining.js";

const formats = ["jsonl", "csv", "duckdb"] as const;
const count = 16;

test("16 shards at once, some of them killed and run again, are joined as one run", async () => {
  const { job, run, file, env, joinJob, behaviour } = await startJoining(40, { output: { formats } });
  const whole = await run({ name: "whole" });
  behaviour.latency = 20;
  const started = allOf(count).map(({ index }) =>
    startKbdump(["run", file, "--shard", `${index}/${count}`, "--quiet", "--json"], env),
  );
  const ends = started.map(finished);
  await sleep(1_500);
  for (const child of started.filter((_, at) => at % 3 === 0)) child.kill("SIGKILL");
  const codes = (await Promise.all(ends)).map(({ code }) => code);
  behaviour.latency = 0;
  for (const [at, code] of codes.entries()) {
    if (code === 0) continue;
    expect([at % 3, code]).toEqual([0, null]);
    const again = await runKbdump(["run", file, "--shard", `${at + 1}/${count}`, "--quiet", "--json"], env);
    expect(again).toMatchObject({ code: 0, stderr: "" });
  }
  const joined = await joinJob();
  expect(joined).toMatchObject({ status: "complete", manifest: { job: job.name } });
  await expectSameFiles(joined, whole);
  await expectSameState(joined, whole);
}, 300_000);

test("a join that is killed at any moment is made again by the next one", { timeout: 300_000 }, async () => {
  const { run, runShards, env, folder, dir, joinJob } = await startJoining(16, {
    output: { formats, compress: "gzip" },
  });
  const whole = await run({ name: "whole" });
  await runShards(4);
  for (let round = 0; round < rounds(3, 10); round++) {
    const place = join(folder, `round-${round}`);
    await cp(join(dir, "test", "shards"), join(place, "test", "shards"), { recursive: true });
    const child = startKbdump(["join", "test", "--out", place, "--quiet"], env);
    const end = finished(child);
    await sleep(300 + Math.random() * 900);
    child.kill("SIGKILL");
    await end;
    const again = await runKbdump(["join", "test", "--out", place, "--quiet", "--json"], env);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    const { folder: published, database } = JSON.parse(again.stdout);
    const manifest = JSON.parse(await readFile(join(published, "manifest.json"), "utf8"));
    const joined = { ...whole, folder: published, database, manifest };
    await expectSameFiles(joined, whole);
    await expectSameState(joined, whole);
    const holders = await readdir(join(place, "test", ".work")).catch((): string[] => []);
    expect(holders.filter((name) => /^[0-9a-f]{8}-/.test(name))).toEqual([]);
    expect(await verifyRun(published, { duckdb: true })).toMatchObject({ status: "sound" });
  }
  expect((await joinJob()).status).toBe("complete");
});
