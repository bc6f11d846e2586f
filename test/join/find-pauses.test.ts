import { expect, test } from "vitest";
import { pauseSentences, type ShardTimes } from "../../src/join/check-shard-set.js";
import { inFull } from "../rounds.js";
import { startJoining } from "./joining.js";

const ran = (index: number, started_at: string, finished_at: string): ShardTimes => ({
  shard: { index },
  started_at,
  finished_at,
});

test("shards that ran at once, or one soon after the other, are of one night", () => {
  expect(pauseSentences([])).toEqual([]);
  const long = ran(1, "2026-11-20T02:00:00.000Z", "2026-11-20T09:00:00.000Z");
  const within = ran(2, "2026-11-20T02:10:00.000Z", "2026-11-20T02:20:00.000Z");
  const after = ran(3, "2026-11-20T09:30:00.000Z", "2026-11-20T09:40:00.000Z");
  expect(pauseSentences([after, within, long])).toEqual([]);
});

test.runIf(inFull)("a shard that is left over from another night is named in the joined dump", async () => {
  const { job, run, joinJob } = await startJoining(4);
  const at = (day: number) => ({ now: () => new Date(Date.UTC(2026, 10, day, 2)) });
  for (const index of [1, 2]) await run({ shard: { index, count: 2 } }, at(20));
  expect((await joinJob()).manifest.warnings).toEqual([]);
  await run({ shard: { index: 1, count: 2 } }, at(21));
  const { status, manifest } = await joinJob();
  expect([job.name, status]).toEqual(["test", "complete"]);
  expect(manifest.warnings).toEqual([
    "shard 2 ended by 2026-11-20T02:00:00Z, and the others began at 2026-11-21T02:00:00Z or later: make the earlier ones again if they are left over from another night",
  ]);
});
