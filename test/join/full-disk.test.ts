import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StopError } from "../../src/errors.js";
import { canMount, tinyDisk } from "../run/tiny-disk.js";
import { startJoining } from "./joining.js";

test.runIf(canMount)(
  "a join that fills the disk says that nothing was published, and joins when there is room",
  async () => {
    const { runShards, joinJob, folder } = await startJoining(4);
    await runShards(2);
    const { path, grow } = await tinyDisk(folder, 100);
    const error = await joinJob({ out: path, format: ["csv"] }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StopError);
    expect(String(error)).toMatch(
      /is full \(joining the shards\)\. Nothing was published\. Make room, and join again$/,
    );
    expect(await readdir(join(path, "test", "runs"))).toEqual([]);
    grow(10_000);
    expect((await joinJob({ out: path, format: ["csv"] })).status).toBe("complete");
  },
);
