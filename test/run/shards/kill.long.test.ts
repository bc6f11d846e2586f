import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { finished, runKbdump, startKbdump } from "../../cli/run-kbdump.js";
import { allOf, expectWhole, startPlace } from "./sharding.js";

test("kill -9 of one of two shards in the same folder: it resumes, and the other is not affected", async () => {
  const { run, file, env, behaviour, shards } = await startPlace(8);
  const whole = await run();
  behaviour.latency = 5;
  const start = (shard: string) => startKbdump(["run", file, "--shard", shard, "--quiet", "--json"], env);
  const [killed, other] = [start("1/2"), start("2/2")];
  const [end, done] = [finished(killed), finished(other)];
  while ((await readdir(join(shards, "1-of-2", ".work")).catch(() => [])).length < 2) await sleep(20);
  await sleep(150);
  killed.kill("SIGKILL");
  expect((await end).code).toBeNull();
  behaviour.latency = 0;
  expect(await done).toMatchObject({ code: 0, stderr: "" });
  const resumed = await runKbdump(["run", file, "--shard", "1/2", "--quiet", "--json"], env);
  expect(resumed).toMatchObject({ code: 0, stderr: "" });
  const results = [JSON.parse(resumed.stdout), JSON.parse((await done).stdout)];
  expect(results.map(({ shard }) => shard)).toEqual(allOf(2));
  await expectWhole(results, whole);
});
