import { expect, test } from "vitest";
import { paintFor } from "../../../src/cli/text.js";
import { jobOf, renderJobs, renderRuns } from "../../../src/commands/list.js";
import type { ListedRun, RunList } from "../../../src/store/list-runs.js";

const now = Date.parse("2026-11-20T08:00:00Z");
const run: ListedRun = {
  runId: "20261120T020000123Z",
  folder: "output/nightly/runs/20261120T020000123Z",
  status: "complete",
  startedAt: Date.parse("2026-11-20T02:00:00Z"),
  finishedAt: Date.parse("2026-11-20T02:20:00Z"),
  counts: { documents: 13, chunks: 1_234_567, child_chunks: 2_948_000 },
  bytes: 1_590_000_000,
  isLatest: true,
  keptBy: ["newest", "last", "daily"],
};
const list: RunList = {
  job: "nightly",
  folder: "output/nightly",
  runs: [
    run,
    { ...run, runId: "20261119T020000123Z", finishedAt: null, startedAt: null, isLatest: false, keptBy: [] },
    {
      ...run,
      runId: "20261001T020000123Z",
      startedAt: null,
      finishedAt: Date.parse("2026-10-01T02:20:00Z"),
      counts: { documents: null, chunks: null, child_chunks: null },
      isLatest: false,
      keptBy: ["newest"],
    },
  ],
  strangers: [{ name: "a\u001b[31mb", why: "its name is not a run id" }],
  atWork: { pid: null, host: null, since: null },
  shards: [],
};
const at = (columns: number) => ({ paint: paintFor({}, {}), columns });

test("every column, if there is room", () => {
  expect(renderRuns(jobOf(list, now), at(120)).split("\n")).toEqual([
    "run                   age  status    documents     chunks   children    size        took  keep",
    "20261120T020000123Z   5 h  complete         13  1,234,567  2,948,000  1.6 GB  20 min 0 s  last, daily  latest",
    "20261119T020000123Z  29 h  complete         13  1,234,567  2,948,000  1.6 GB           –  -",
    "20261001T020000123Z  50 d  complete          –          –          –  1.6 GB           –  newest",
    "",
    "ignored  a [31mb: its name is not a run id",
    "a run is active; its lock file cannot be read",
    "3 runs in output/nightly, 4.8 GB",
  ]);
});

test.each([
  [80, "run                   age  status       chunks    size  keep"],
  [50, "run                   age  status    keep"],
  [40, "run                   age  status"],
])("at %i columns those that matter most", (columns, head) => {
  const lines = renderRuns(jobOf(list, now), at(columns)).split("\n").slice(0, 4);
  expect(lines[0]).toBe(head);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
});

test("the table of all jobs also fits a narrow terminal", () => {
  const lists = [list, { ...list, job: "weekly", runs: [] }].map((each) => jobOf(each, now));
  for (const columns of [80, 40])
    for (const line of renderJobs(lists, "output", at(columns)).split("\n"))
      expect(line.length).toBeLessThanOrEqual(columns);
  expect(renderJobs(lists, "output", at(40)).split("\n")).toEqual([
    "job      age  status    runs",
    "nightly  5 h  complete     3  active",
    "weekly                     0  active",
  ]);
});

test("a line for each division into shards, with those that have no run, below the runs", () => {
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const shards = [
    { count: 8, missing: [], newestRunId: run.runId },
    { count: 16, missing: [3, 7], newestRunId: run.runId },
    { count: 32, missing: range(1, 32), newestRunId: undefined },
  ];
  expect(
    renderRuns(jobOf({ ...list, shards }, now), at(120))
      .split("\n")
      .slice(-4),
  ).toEqual([
    "3 runs in output/nightly, 4.8 GB",
    "8 shards, 8 with a run, the newest 20261120T020000123Z",
    "16 shards, 14 with a run, the newest 20261120T020000123Z; without one: 3, 7",
    "32 shards, 0 with a run; without one: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 22 more",
  ]);
});
