import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const root = join(import.meta.dirname, "..");

/** Tests that take too long for `npm test` whatever is cut: `npm run test:long` alone runs them. */
export const onlyLong = [
  "test/bench/bench.test.ts",
  "test/bucket/failures.test.ts",
  "test/bucket/hold-bucket.test.ts",
  "test/bucket/large-files.test.ts",
  "test/cli/bucket/cache.test.ts",
  "test/cli/bucket/damaged-manifest.test.ts",
  "test/cli/bucket/join-bucket.test.ts",
  "test/cli/bucket/refusals.test.ts",
  "test/cli/bucket/same-output.test.ts",
  "test/cli/bucket/verify-bucket.test.ts",
  "test/cli/recipe.test.ts",
  "test/client/in-flight/in-flight-trial.test.ts",
  "test/client/pace.chance.test.ts",
  "test/database/readers.test.ts",
  "test/database/state-at.test.ts",
  "test/docs/pages.test.ts",
  "test/docs/python.test.ts",
  "test/docs/s3.test.ts",
  "test/docs/workers.test.ts",
  "test/dump/compressed/conformance.test.ts",
  "test/dump/compressed/read-back.test.ts",
  "test/dump/formats/memory.test.ts",
  "test/dump/formats/new-format.test.ts",
  "test/dump/formats/parquet-bytes.test.ts",
  "test/dump/formats/writers.test.ts",
  "test/dump/partition/commands.test.ts",
  "test/dump/partition/database.test.ts",
  "test/exchange/bucket-course.test.ts",
  "test/exchange/bucket-exchange.test.ts",
  "test/faults/disk-errors.test.ts",
  "test/faults/freeze.test.ts",
  "test/faults/two-at-once.test.ts",
  "test/join/history.test.ts",
  "test/join/kill.test.ts",
  "test/move/forms.test.ts",
  "test/move/partitioned.test.ts",
  "test/originals/originals-command.test.ts",
  "test/originals/originals.test.ts",
  "test/plan/plan-job.test.ts",
  "test/plan/requests.test.ts",
  "test/report/browser/access.test.ts",
  "test/report/browser/layout.test.ts",
  "test/report/browser/quiet.test.ts",
  "test/report/course/without-content.test.ts",
  "test/report/facts/load-tables.test.ts",
  "test/report/hostile-dump.test.ts",
  "test/restore/course/continued.test.ts",
  "test/restore/kill.test.ts",
  "test/restore/locked-document.test.ts",
  "test/restore/plan/load-history.test.ts",
  "test/run/bucket/failures.test.ts",
  "test/run/bucket/freeze.test.ts",
  "test/run/bucket/kill.test.ts",
  "test/run/bucket/later-runs.test.ts",
  "test/run/bucket/shards.test.ts",
  "test/run/compressed-joins.test.ts",
  "test/run/compressed.test.ts",
  "test/run/database/broken-database.test.ts",
  "test/run/endless-answers.test.ts",
  "test/run/full-disk.test.ts",
  "test/run/memory.test.ts",
  "test/run/pace.test.ts",
  "test/run/real-deployments.test.ts",
  "test/run/shards/demo.test.ts",
  "test/run/shards/kill.test.ts",
  "test/run/transient-faults.test.ts",
  "test/run/workers/broker-faults.test.ts",
  "test/run/workers/bucket.test.ts",
  "test/run/workers/ends-of-runs.test.ts",
  "test/run/workers/forged-results.test.ts",
  "test/run/workers/frozen-broker.test.ts",
  "test/run/workers/workers.test.ts",
  "test/shared-bounds/faults.test.ts",
  "test/shared-bounds/random.test.ts",
  "test/shared-bounds/rate.test.ts",
  "test/simulation/shards/sabotage.test.ts",
  "test/stories/newcomer.test.ts",
  "test/stories/operator.test.ts",
  "test/stories/owner.test.ts",
  "test/cli/resize.test.ts",
  "test/verify/compressed.test.ts",
  "test/verify/database.test.ts",
  "test/verify/nasty-rows.test.ts",
  "test/verify/partitions.test.ts",
  "test/workers/random.test.ts",
];

/** The longest of them: it begins first, so that the others run beside it. */
const longest = ["test/workers/random.test.ts"];

/** Tests whose rounds are cut in `npm test`; `npm run test:long` runs them in full. */
const cut = [
  "test/run/kill.test.ts",
  "test/simulation/determinism.test.ts",
  "test/simulation/holders/holders.test.ts",
  "test/simulation/moving/moving.test.ts",
  "test/simulation/shards/shards.test.ts",
  "test/simulation/simulation.test.ts",
];

/** The same of tests that need no process of their own. */
const cutAmongOthers = [
  "test/move/kill.test.ts",
  "test/move/random/random-move.test.ts",
  "test/restore/apply/faults.test.ts",
  "test/restore/plan/planned-documents.test.ts",
  "test/restore/plan/random-histories.test.ts",
  "test/restore/random/random-restore.test.ts",
];

/** Tests that mock modules, or set what holds for a whole process: no other test may run in theirs. */
const touchy = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .filter((path) => readFileSync(join(root, path), "utf8").match(/vi\.mock\(|process\.env\.TZ|fault-library/));

const alone = [...new Set([...cut, ...touchy])];

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/build-when-old.ts", "test/say-what-was-skipped.ts"],
    env: { http_proxy: "", https_proxy: "" }, // the servers of the tests are on this machine, which no proxy can reach
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    maxConcurrency: 2,
    // Projects run in the order of their names, so that the longest tests do not come last and keep one worker waiting.
    projects: process.env.KBDUMP_LONG
      ? [
          { extends: true, test: { name: "first", include: longest } },
          {
            extends: true,
            test: { name: "long", include: [...onlyLong, ...cut, ...cutAmongOthers], exclude: longest },
          },
        ]
      : [
          { extends: true, test: { name: "alone", include: alone, exclude: onlyLong } },
          // A process of its own for each of the other files would double the time that most of them take.
          {
            extends: true,
            test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...alone, ...onlyLong], isolate: false },
          },
        ],
  },
});
