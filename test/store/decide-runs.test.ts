import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runIdFrom } from "../../src/dump/run-id.js";
import type { Keep } from "../../src/job/job.js";
import { decideRuns, type PastRun } from "../../src/store/keep-runs.js";

const run = (time: string, status: PastRun["status"] = "complete"): PastRun => ({
  runId: runIdFrom(new Date(time)),
  status,
});
const keptOf = (runs: readonly PastRun[], keep: Keep) =>
  decideRuns(runs, keep)
    .filter(({ keep }) => keep)
    .map(({ runId }) => runId);

test("says for every run whether it is kept and why, newest first", () => {
  const runs = [
    run("2026-11-01T02:00:00Z"),
    run("2026-11-18T02:00:00Z", "partial"),
    run("2026-11-19T02:00:00Z"),
    run("2026-11-20T02:00:00Z"),
    run("2026-11-20T14:00:00Z"),
    run("2026-11-21T02:00:00Z", "partial"),
  ];
  expect(decideRuns(runs, { last: 1, daily: 2, monthly: 1 })).toEqual([
    {
      ...runs[5],
      keep: true,
      rules: ["last", "daily", "monthly"],
      reasons: ["last 1: number 1", "daily 2: 2026-11-21", "monthly 1: 2026-11"],
    },
    {
      ...runs[4],
      keep: true,
      rules: ["newest", "last", "daily", "monthly"],
      reasons: ["newest complete run", "last 1: number 1", "daily 2: 2026-11-20", "monthly 1: 2026-11"],
    },
    { ...runs[3], keep: false, rules: [], reasons: ["no rule keeps it"] },
    { ...runs[2], keep: true, rules: ["daily"], reasons: ["daily 2: 2026-11-19"] },
    { ...runs[1], keep: false, rules: [], reasons: ["partial, and the later run 20261120T140000000Z is complete"] },
    { ...runs[0], keep: false, rules: [], reasons: ["no rule keeps it"] },
  ]);
});

test("days without a run do not count", () => {
  const runs = ["2026-01-05", "2026-03-05", "2026-11-19", "2026-11-20"].map((day) => run(`${day}T02:00:00Z`));
  expect(keptOf(runs, { daily: 3 })).toEqual([runs[3], runs[2], runs[1]].map((kept) => kept?.runId));
});

test("weeks go from Monday to Sunday, over the end of a year", () => {
  const runs = ["2026-12-27", "2026-12-28", "2027-01-03", "2027-01-04"].map((day) => run(`${day}T02:00:00Z`));
  expect(keptOf(runs, { weekly: 2 })).toEqual([runs[3]?.runId, runs[2]?.runId]);
});

test("of partial runs since the newest complete one, the rules keep some; of a job without a complete run alike", () => {
  const partial = ["2026-11-18", "2026-11-19", "2026-11-20"].map((day) => run(`${day}T02:00:00Z`, "partial"));
  const kept = [partial[2]?.runId, partial[1]?.runId];
  expect(keptOf(partial, { last: 2 })).toEqual(kept);
  expect(keptOf([run("2026-11-01T02:00:00Z"), ...partial], { last: 2 })).toEqual([...kept, "20261101T020000000Z"]);
  expect(decideRuns(partial, { last: 2 })[2]?.reasons).toEqual([
    "no rule keeps it among the partial runs since the newest complete one",
  ]);
});

test("runs of an emptied knowledge base do not replace the last one that has documents", () => {
  const full = ["2026-11-16", "2026-11-17"].map((day) => run(`${day}T02:00:00Z`));
  const empty = ["2026-11-18", "2026-11-19"].map((day) => ({ ...run(`${day}T02:00:00Z`), isEmpty: true }));
  const decided = decideRuns([...full, ...empty], { last: 1 });
  expect(decided.filter(({ keep }) => keep).map(({ runId, reasons }) => [runId, reasons])).toEqual([
    [empty[1]?.runId, ["newest complete run", "last 1: number 1"]],
    [full[1]?.runId, ["newest complete run with documents"]],
  ]);
});

describe("for all runs and rules", () => {
  const hour = 3_600_000;
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 20_000 }), { maxLength: 60 });
  const runs = fc
    .tuple(times, fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }))
    .map(([hours, complete]) =>
      hours.map((at, index) =>
        run(new Date(1.7e12 + at * hour).toISOString(), complete[index] ? "complete" : "partial"),
      ),
    );
  const count = fc.integer({ min: 1, max: 12 });
  const keeps = fc
    .record({ last: count, daily: count, weekly: count, monthly: count }, { requiredKeys: [] })
    .filter((keep) => Object.keys(keep).length > 0) as fc.Arbitrary<Keep>;
  const holds = (rule: (runs: readonly PastRun[], keep: Keep) => void) =>
    fc.assert(fc.property(runs, keeps, rule), { numRuns: 300 });

  test("partial runs do not affect which complete runs are kept", () => {
    holds((runs, keep) => {
      const complete = runs.filter(({ status }) => status === "complete");
      const ids = new Set(complete.map(({ runId }) => runId));
      expect(decideRuns(runs, keep).filter(({ runId }) => ids.has(runId))).toEqual(decideRuns(complete, keep));
    });
  });

  test("the newest complete run stays, and the newest run of all", () => {
    holds((runs, keep) => {
      const decisions = decideRuns(runs, keep);
      expect(decisions.find(({ status }) => status === "complete")?.keep ?? true).toBe(true);
      expect(decisions[0]?.keep ?? true).toBe(true);
    });
  });

  test("a run stays if and only if at least one rule keeps it", () => {
    holds((runs, keep) => {
      const alone = Object.entries(keep).flatMap(([rule, count]) => keptOf(runs, { [rule]: count }));
      expect(new Set(keptOf(runs, keep))).toEqual(new Set(alone));
    });
  });

  test("each rule keeps as many complete runs as it says, or as many periods as there are", () => {
    const periods = { last: 19, daily: 8, monthly: 6 } as const; // how many characters of a run id identify the period
    holds((runs, keep) => {
      const complete = runs.filter(({ status }) => status === "complete");
      for (const rule of ["last", "daily", "monthly"] as const) {
        const count = keep[rule];
        if (count === undefined) continue;
        const groups = new Set(complete.map(({ runId }) => runId.slice(0, periods[rule])));
        const kept = keptOf(complete, { [rule]: count });
        expect(kept).toHaveLength(Math.min(count, groups.size));
        const newest = [...groups].map((group) =>
          complete
            .map(({ runId }) => runId)
            .filter((id) => id.startsWith(group))
            .sort()
            .at(-1),
        );
        expect(new Set(kept)).toEqual(new Set(newest.sort().reverse().slice(0, count)));
      }
    });
  });

  test("to decide once more changes nothing", () => {
    holds((runs, keep) => {
      const kept = new Set(keptOf(runs, keep));
      const left = runs.filter(({ runId }) => kept.has(runId));
      expect(new Set(keptOf(left, keep))).toEqual(kept);
    });
  });

  test("the order in which the runs are listed does not matter", () => {
    holds((runs, keep) => {
      expect(decideRuns([...runs].reverse(), keep)).toEqual(decideRuns(runs, keep));
    });
  });
});
