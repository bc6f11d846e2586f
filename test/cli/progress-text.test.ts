import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { renderBar, renderReading, renderRun, silentTime, waitingText } from "../../src/cli/progress-text.js";
import { openView } from "../../src/cli/progress-view.js";
import { RecentRate } from "../../src/cli/time-left.js";
import { emptyRunProgress, type RunProgress } from "../../src/job/run-progress.js";

import { withoutTimes } from "./run-kbdump.js";

const progressOf = (facts: Partial<RunProgress>): RunProgress => ({
  ...emptyRunProgress(),
  step: "reading documents",
  ...facts,
});

/** The text of the view for a run with these counts after `elapsed` milliseconds; the run started with no pages done. */
function factsAfter(elapsed: number, facts: Partial<RunProgress>) {
  const progress = progressOf({ ...facts, pagesDone: 0 });
  const rendering = renderRun(progress);
  rendering.facts(0);
  Object.assign(progress, facts);
  return rendering.facts(elapsed);
}

test("documents of unknown size count as average ones", () => {
  const found = factsAfter(10_000, { documents: 4, documentsBegun: 2, pagesExpected: 200, pagesDone: 100 });
  expect(found).toMatchObject({ done: 100, of: 400, share: 0.25, remaining_seconds: 30 });
});

test("documents that an earlier process read do not count; if all are such, no time is left", () => {
  const resumed = { documents: 9, documentsFound: 5, documentsBegun: 2, pagesExpected: 200, pagesDone: 100 };
  expect(factsAfter(10_000, resumed)).toMatchObject({ share: 0.25, remaining_seconds: 30 });
  expect(factsAfter(10_000, { documents: 9, documentsFound: 9, documentsDone: 9 })).toMatchObject({ share: 1 });
});

test("documents that failed are not waited for", () => {
  const failed = { documents: 3, documentsBegun: 2, documentsFailed: 1, pagesExpected: 10, pagesDone: 5 };
  expect(factsAfter(1_000, failed)).toMatchObject({ share: 0.5, remaining_seconds: 1 });
});

test("there is no estimate without data, and the share never exceeds 1", () => {
  expect(factsAfter(1_000, { documents: 4 })).toMatchObject({ of: null, share: null, remaining_seconds: null });
  const more = { documents: 1, documentsBegun: 1, pagesExpected: 2, pagesDone: 3 };
  expect(factsAfter(1_000, more)).toMatchObject({ share: 1, remaining_seconds: 0 });
});

test("the time left counts from when the size was known", () => {
  const progress = progressOf({ documents: 2 });
  const { facts } = renderRun(progress);
  facts(60_000);
  Object.assign(progress, { documentsBegun: 2, pagesExpected: 200 });
  facts(60_000);
  progress.pagesDone = 50;
  expect(facts(70_000)).toMatchObject({ share: 0.25, remaining_seconds: 30 });
});

test("requests by workers count before their results arrive", () => {
  const progress = progressOf({ requestsElsewhere: 0 });
  const { facts } = renderRun(progress);
  facts(0);
  Object.assign(progress.requests, { sent: 41, answered: 40 });
  progress.requestsElsewhere = 60;
  expect(facts(10_000)).toMatchObject({ counts: { requests: 101 }, per_second: 10 });
});

test("a shard says which one it is, first", () => {
  const progress = progressOf({ documents: 2 });
  expect(renderRun(progress, { index: 3, count: 16 }).lines(1_000)[0]).toMatch(/^shard 3 of 16 · 0\/2 documents · /);
  expect(renderRun(progress).lines(1_000)[0]).toMatch(/^0\/2 documents · /);
});

test("one line says how long, how far and how fast", () => {
  const counts = { documents: 13, documentsDone: 4, documentsBegun: 13, chunks: 4800, child_chunks: 1 };
  const progress = progressOf({ ...counts, pagesExpected: 10 });
  const { lines } = renderRun(progress);
  lines(0);
  progress.pagesDone = 5;
  progress.requests.answered = 2360;
  expect(lines(10_000)).toEqual([
    "50 % · 10.0 s left · 4/13 documents · 4,800 chunks · 1 child chunk · 236 requests/s",
  ]);
  Object.assign(progress, { step: "writing duckdb", pagesDone: 10 });
  expect(lines(10_000)[0]).toMatch(/^100 % · writing duckdb · 4\/13/);
});

test("while answers are missing, the line says for how long, and gives no estimate", () => {
  vi.setSystemTime(0);
  const progress = progressOf({ documents: 2, documentsBegun: 2, pagesExpected: 10 });
  const { lines, facts } = renderRun(progress);
  lines(0);
  progress.pagesDone = 5;
  vi.advanceTimersByTime(60_000);
  Object.assign(progress.requests, { inFlight: 3, silentSince: performance.now() - 9_999 });
  expect(lines(60_000)[0]).toMatch(/^50 % · 1 min 0 s left · /);
  progress.requests.silentSince = performance.now() - 50_400;
  expect(lines(60_000)[0]).toMatch(/^50 % · waiting 50 s for 3 answers · 0\/2 documents · /);
  expect(facts(60_000)).toMatchObject({
    silent_seconds: 50.4,
    counts: { in_flight: 3 },
    remaining_seconds: null,
  });
  progress.requests.inFlight = 0; // the service is down, and every request waits for it
  expect(lines(60_000)[0]).toMatch(/^50 % · waiting 50 s for the service · 0\/2 documents · /);
  expect(facts(60_000)).toMatchObject({ silent_seconds: 50.4, remaining_seconds: null });
  progress.requests.silentSince = undefined;
  expect(facts(60_000)).toMatchObject({ silent_seconds: null, remaining_seconds: 60 });
});

test("a rate covers the last ten seconds, even after a long pause", () => {
  const rate = new RecentRate();
  expect(rate.at(0, 0)).toBe(0);
  expect(rate.at(1_000, 10)).toBe(10);
  expect(rate.at(1_000_000, 10)).toBeCloseTo(0, 3);
  expect(rate.at(1_005_000, 110)).toBe(20);
  expect(rate.at(1_010_000, 210)).toBe(20);
  expect(rate.at(1_015_000, 410)).toBe(30);
  expect(rate.at(1_016_000, 5)).toBe(0);
  expect(rate.at(1_017_000, 10)).toBe(5);
});

test("a bar is as wide with every share", () => {
  expect(renderBar(0.5, 10)).toBe("━━━━━╌╌╌╌╌  50 %");
  const widths = [undefined, 0, 0.01, 0.999, 1].map((share) => renderBar(share, 10).length);
  expect(new Set(widths).size).toBe(1);
});

test.each([
  [undefined, undefined],
  [90_001, undefined],
  [90_000, 10_000],
])("silent since %s: %s", (silentSince, expected) => {
  expect(silentTime({ silentSince }, 100_000)).toBe(expected);
});

test.each([
  [10_000, 0, "waiting 10 s for the service"],
  [10_000, 1, "waiting 10 s for 1 answer"],
  [59_499, 2, "waiting 59 s for 2 answers"],
  [59_500, 3, "waiting 1 min 0 s for 3 answers"],
])("%i ms for %i: %s", (milliseconds, answers, text) => expect(waitingText(milliseconds, answers)).toBe(text));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function watched(options: { isTTY?: boolean; format?: "text" | "json"; quiet?: boolean }, wait: number): string {
  let text = "";
  const output = { isTTY: options.isTTY ?? false, columns: 60, write: (more: string) => (text += more) };
  const progress = { step: "reading chunks.csv", expected: 40_000_000, done: 0 };
  const view = openView({
    output,
    env: { NO_COLOR: "1" },
    format: options.format ?? "text",
    quiet: options.quiet ?? false,
  });
  const stop = view.watch(renderReading(progress));
  const reading = setInterval(() => (progress.done += 1_000_000), 1_000);
  vi.advanceTimersByTime(wait);
  clearInterval(reading);
  stop();
  vi.advanceTimersByTime(60_000);
  return text;
}

test("a line every 10 s outside a terminal", () => {
  expect(withoutTimes(watched({}, 25_000))).toBe(
    "22 % · reading chunks.csv · 31.0 s left · 1.0 MB/s\n47 % · reading chunks.csv · 21.0 s left · 1.0 MB/s\n",
  );
  expect(watched({}, 9000)).toBe("");
});

test("a bar on a terminal, which is removed at the end and never wider than it", () => {
  const drawn = watched({ isTTY: true }, 20_000).split("\r\x1b[J").map(stripVTControlCharacters);
  expect(drawn).toHaveLength(201);
  expect(drawn[150]).toMatch(/^━━━━╌╌╌╌╌╌╌╌ {2}3\d % {2}reading chunks\.csv · 2\d\.\d s left/);
  expect(drawn.at(-1)).toBe("");
  for (const line of drawn) expect(line.trimEnd().length).toBeLessThan(60);
});

test("JSON lines for machines, and nothing at all", () => {
  expect(JSON.parse(watched({ format: "json" }, 10_000))).toEqual({
    time: expect.any(String),
    level: "info",
    message: "progress",
    ...{ step: "reading chunks.csv", done: 9_000_000, of: 40_000_000, unit: "byte", per_second: 1_000_000 },
    ...{ share: 0.225, counts: {}, elapsed_seconds: 10, remaining_seconds: 31, silent_seconds: null },
  });
  expect(watched({ quiet: true, isTTY: true }, 100_000)).toBe("");
});
