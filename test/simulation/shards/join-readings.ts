import { join } from "node:path";
import type { Job } from "../../../src/job/job.js";
import { withDefaults } from "../../../src/job/open-service.js";
import { findShards } from "../../../src/join/find-shards.js";
import { type JoinResult, joinShards } from "../../../src/join/join-shards.js";
import { finishRun, prepareRun } from "../../../src/run/make-run.js";
import { openFreshWorkspace } from "../../../src/run/open-workspace.js";
import type { Reading } from "../../../src/run/reading.js";
import { noRequests } from "../../../src/segments/request-sum.js";
import type { Environment } from "../environment.js";
import { jobOf } from "../read-all.js";
import type { ReadShard } from "./read-shards.js";

/** Publishes each shard as a run and joins the runs. Works on the real disk. */
export async function joinReadings(environment: Environment, shards: readonly ReadShard[]): Promise<JoinResult> {
  const dir = join(environment.folder, "out");
  const job = jobOf(environment.scenario, environment.service.knowledge.dataset.id);
  for (const { shard, through } of shards)
    if (through) await publish(through.reading, { ...job, shard, output: { ...job.output, dir } });
  const found = await findShards([join(dir, job.name)], { out: dir, env: {} });
  return joinShards(found, { env: {}, now: () => new Date(environment.clock.now) });
}

async function publish(reading: Reading, job: Job): Promise<void> {
  const context = withDefaults({ now: () => reading.finishedAt });
  await using workspace = await openFreshWorkspace(job, context);
  const prepared = await prepareRun(workspace, job, context);
  await finishRun(workspace, job, context, prepared, {
    reading,
    baseUrl: "https://kb.example/v1",
    requests: noRequests,
  });
  workspace.keep("nothing");
}
