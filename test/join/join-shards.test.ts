import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Format, Job } from "../../src/job/job.js";
import { verifyRun } from "../../src/verify/verify-run.js";
import { inFull, rounds } from "../rounds.js";
import { expectSameFiles, expectSameState, startJoining } from "./joining.js";

const compressions = ["none", "gzip", "zstd"] as const;

const outputs = fc.record({
  count: fc.integer({ min: 1, max: 9 }),
  formats: fc.subarray<Format>(["jsonl", "csv", "parquet", "duckdb"], { minLength: 1 }),
  compress: fc.constantFrom(...compressions),
  partition: fc.constantFrom("none" as const, "dataset" as const),
  csvSafe: fc.boolean(),
});

test.runIf(inFull)(
  "joined shards have the files and the database of a single run, whatever the number of shards and the formats",
  async () => {
    await fc.assert(
      fc.asyncProperty(outputs, async ({ count, ...changes }) => {
        const { job, run, runShards, joinJob, dir } = await startJoining();
        const output: Job["output"] = { ...job.output, ...changes };
        const whole = await run({ name: "whole", output });
        await runShards(count, { output });
        const joined = await joinJob();
        expect(joined).toMatchObject({ status: "complete", problems: [] });
        await expectSameFiles(joined, whole);
        if (changes.formats.includes("duckdb")) await expectSameState(joined, whole);
        expect(joined.manifest.documents).toEqual(whole.manifest.documents);
        expect(joined.manifest.child_lists).toEqual(whole.manifest.child_lists);
        expect(joined.manifest.proofs).toEqual(whole.manifest.proofs);
        expect(joined.manifest.drift).toEqual(whole.manifest.drift);
        expect([...joined.manifest.warnings].sort()).toEqual([...whole.manifest.warnings].sort());
        expect(joined.manifest.discovered).toEqual(whole.manifest.discovered);
        expect(joined.folder).toBe(join(dir, "test", "runs", joined.manifest.run_id));
        expect(await verifyRun(joined.folder)).toMatchObject({ status: "sound", findings: [] });
        expect(await readdir(join(dir, "test", ".work")).catch(() => [])).toEqual(
          expect.not.arrayContaining([expect.stringMatching(/^[0-9a-f]{8}-/)]),
        );
      }),
      {
        numRuns: rounds(1, 40, "KBDUMP_JOINS"),
        examples: [
          [
            {
              count: 3,
              formats: ["jsonl", "csv", "parquet", "duckdb"],
              compress: "gzip",
              partition: "dataset",
              csvSafe: true,
            },
          ],
        ],
      },
    );
  },
  600_000,
);

test("the manifest names the shards, spans their time and sums their requests", async () => {
  const { runShards, joinJob } = await startJoining();
  const shards = await runShards(2);
  const { manifest, shards: named } = await joinJob();
  const of = <T>(value: (one: (typeof shards)[number]["manifest"]) => T) =>
    shards.map((shard) => value(shard.manifest));
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  expect(manifest.requests).toEqual({
    sent: sum(of(({ requests }) => requests.sent)),
    retried: 0,
    throttled: 0,
    bytes: sum(of(({ requests }) => requests.bytes)),
  });
  expect([manifest.started_at]).toEqual(
    of(({ started_at }) => started_at)
      .sort()
      .slice(0, 1),
  );
  expect([manifest.finished_at]).toEqual(
    of(({ finished_at }) => finished_at)
      .sort()
      .slice(-1),
  );
  const hashes = await Promise.all(
    shards.map(async ({ folder }) =>
      createHash("sha256")
        .update(await readFile(join(folder, "manifest.json")))
        .digest("hex"),
    ),
  );
  expect(manifest.joined?.shards).toEqual(
    shards.map(({ manifest: { run_id } }, at) => ({ index: at + 1, run_id, manifest_sha256: hashes[at] })),
  );
  expect(named.map(({ index, run_id }) => [index, run_id])).toEqual(
    manifest.joined?.shards.map(({ index, run_id }) => [index, run_id]),
  );
  expect(manifest.shard).toBeUndefined();
});
