import { rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../src/errors.js";
import { emptyJoinProgress } from "../../src/join/join-shards.js";
import { inFull } from "../rounds.js";
import { startJoining } from "./joining.js";

test.runIf(inFull)("a shard that is removed while it is joined is named, and nothing is published", async () => {
  const { runShards, joinJob, dir } = await startJoining(4);
  const [, second] = await runShards(2);
  const folder = second?.folder ?? "";
  const progress = new Proxy(emptyJoinProgress(), {
    set: (target, name, value) => {
      if (value === "joining the shards") rmSync(folder, { recursive: true });
      return Reflect.set(target, name, value);
    },
  });
  const error = await joinJob({ progress }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StopError);
  expect(String(error)).toContain(`${folder}: it was removed or changed while it was joined; join again`);
  expect(await readdir(join(dir, "test", "runs"))).toEqual([]);
});
