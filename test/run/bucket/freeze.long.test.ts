import { expect, test } from "vitest";
import { LostError } from "../../../src/errors.js";
import { hasS3, startMoto } from "../../servers/start-s3.js";
import { startStoreProxy } from "../../servers/store-proxy.js";
import { type BucketEnvironment, openBucketEnvironment } from "./bucket-job.js";

/** How many milliseconds the successor's clock is ahead, so that an owner without a heartbeat counts as gone. */
const later = 125_000;

test.skipIf(!hasS3)(
  "frozen before each request of its course while a successor runs: nothing is lost, half or published late",
  { timeout: 900_000 },
  async () => {
    const store = await startMoto();
    try {
      const environment = await openBucketEnvironment(store);
      const [frozen, ahead] = [await startStoreProxy(store), await startStoreProxy(store)];
      ahead.ageBy(later);
      const keep = { keep: { last: 3 } };
      const one = await environment.machine("one", keep, frozen.env);
      const two = await environment.machine("two", keep, ahead.env);
      for (let run = 0; run < 4; run++) await one.run();
      const outcomes = new Set<string>();
      for (let at = 0; ; at++) {
        const held = frozen.holdAt(at);
        const running = one.run({ report: true }).then(
          ({ manifest, problems }) => ({ runId: manifest.run_id, problems }),
          (error: unknown) => ({ error }),
        );
        const name = await Promise.race([held, running.then(() => undefined)]);
        if (name === undefined) break; // the run has fewer requests, so all were tried
        const label = `frozen before request ${at}: ${name}`;
        const { manifest, problems } = await two.run({ report: at % 5 === 0 }); // a report takes most of the time
        expect(problems, label).toEqual([]);
        frozen.letGo();
        outcomes.add(await judge(environment, label, manifest.run_id, await running));
      }
      expect(two.warnings).toEqual([]);
      expect([...outcomes].sort()).toEqual(["complete", "lost", "published, then lost"]);
      const { manifest } = await two.run();
      expect((await environment.head()).latest).toBe(manifest.run_id);
      const { runs } = await environment.head();
      const known = await environment.inDatabase("SELECT run_id FROM runs");
      for (const { run_id } of runs) expect(known).toContain(run_id);
    } finally {
      await store.stop();
    }
  },
);

test.skipIf(!hasS3)(
  "a database that is written late makes the successor partial, and the next run has both",
  async () => {
    const store = await startMoto();
    try {
      const environment = await openBucketEnvironment(store);
      const [frozen, ahead] = [await startStoreProxy(store), await startStoreProxy(store)];
      ahead.ageBy(later);
      const [one, two] = [
        await environment.machine("one", {}, frozen.env),
        await environment.machine("two", {}, ahead.env),
      ];
      const ids = [(await one.run()).manifest.run_id];
      const isDatabase = (request: string) => /^PUT .*\/test\.duckdb/.test(request);
      const late = frozen.holdWhere(isDatabase);
      const first = one.run();
      await late;
      const next = ahead.holdWhere(isDatabase);
      const second = two.run();
      await next;
      frozen.letGo();
      ids.push((await first).manifest.run_id);
      ahead.letGo();
      const { status, problems, manifest } = await second;
      ids.push(manifest.run_id);
      expect([status, problems]).toEqual([
        "partial",
        [expect.stringMatching(/test\.duckdb could not be replaced \(.* was changed by an earlier run that woke late/)],
      ]);
      expect(await environment.inDatabase("SELECT run_id FROM runs ORDER BY 1")).toEqual(ids.slice(0, 2));
      ids.push((await two.run()).manifest.run_id);
      expect(await environment.inDatabase("SELECT run_id FROM runs ORDER BY 1")).toEqual(ids);
    } finally {
      await store.stop();
    }
  },
);

type Outcome = { readonly runId: string; readonly problems: readonly string[] } | { readonly error: unknown };

/** Checks the published state after a frozen run wakes; returns how that run ended. */
async function judge(
  environment: BucketEnvironment,
  label: string,
  successor: string,
  outcome: Outcome,
): Promise<string> {
  const { runs, latest } = await environment.head();
  const listed = runs.map(({ run_id }) => run_id);
  expect(listed, label).toContain(successor);
  for (const runId of listed.slice(-2)) await environment.fetched(runId);
  expect(latest, label).toBe(listed.at(-1));
  const known = await environment.inDatabase("SELECT run_id FROM runs");
  for (const runId of listed.filter((runId) => runId <= successor))
    expect(known, `${label}: ${runId}`).toContain(runId);
  if ("error" in outcome) {
    expect(outcome.error, label).toBeInstanceOf(LostError);
    expect(String(outcome.error), label).toMatch(/this job was taken over by process \d+/);
    return "lost";
  }
  expect(listed, label).toContain(outcome.runId);
  if (outcome.problems.length === 0) return "complete";
  expect(outcome.problems.join(), label).toMatch(/taken over by process|changed by/);
  return "published, then lost";
}
