import { join } from "node:path";
import { expect, test } from "vitest";
import { findShards, joinShards, loadJob, runJob, StopError } from "../../src/index.js";
import { allOf } from "../run/shards/sharding.js";
import { startJoining } from "./joining.js";

test("a program runs the shards of a job and joins them, with what the package exports", async () => {
  const { file, env } = await startJoining(4);
  const job = await loadJob({ file }, {}, {});
  const [first, second] = allOf(2);
  await runJob({ ...job, shard: first }, { env });
  const find = () => findShards([job.name], { out: job.output.dir, env });
  await expect(joinShards(await find())).rejects.toThrow(StopError);
  await runJob({ ...job, shard: second }, { env });
  const { status, folder, shards, mend, manifest } = await joinShards(await find());
  expect({ status, mend, documents: manifest.counts.documents }).toEqual({
    status: "complete",
    mend: [],
    documents: 4,
  });
  expect(shards.map(({ index }) => index)).toEqual([1, 2]);
  expect(folder).toBe(join(job.output.dir, job.name, "runs", manifest.run_id));
});
