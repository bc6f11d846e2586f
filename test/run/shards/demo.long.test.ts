import { join } from "node:path";
import { expect, test } from "vitest";
import { loadJob } from "../../../src/job/load-job.js";
import { planJob } from "../../../src/plan/plan-job.js";
import type { RunResult } from "../../../src/run/make-run.js";
import { runJob } from "../../../src/run/run-job.js";
import { testFolder } from "../job-for.js";
import { allOf, rowsOf } from "./sharding.js";

test("shards of the demo job have together the rows of a whole run, with a list and without", async () => {
  const folder = await testFolder();
  const flags = { out: join(folder, "out"), childChunks: "auto", consistency: "counts", format: ["jsonl"] };
  const job = await loadJob({ file: "jobs/demo.yaml" }, flags, {});
  const whole = await runJob(job);
  const list = join(folder, "list.json");
  await planJob(job, { documentsOut: list });
  for (const documentsFrom of [undefined, list]) {
    const segments: RunResult[] = [];
    for (const shard of allOf(3)) segments.push(await runJob({ ...job, shard, documentsFrom }));
    expect(segments.map(({ status }) => status)).toEqual(["complete", "complete", "complete"]);
    for (const kind of ["chunks", "child_chunks", "documents", "metadata_fields"])
      expect(await rowsOf(segments, kind), kind).toEqual(await rowsOf([whole], kind));
  }
}, 120_000);
