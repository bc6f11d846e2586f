import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  progressOf,
  renderBar,
  renderProgress,
  renderReading,
  renderRun,
  waitingText,
  waitingTime,
} from "../../src/cli/progress.js";
import { openView } from "../../src/cli/view.js";
import { emptyRunTally, type RunTally } from "../../src/job/run-tally.js";

import { withoutTimes } from "./run-kbdump.js";

const tallyOf = (facts: Partial<RunTally>): RunTally => ({ ...emptyRunTally(), step: "reading documents", ...facts });

test("documents that have not told their size are taken for average ones", () => {
  const tally = tallyOf({ documents: 4, documentsBegun: 2, pagesExpected: 200, pagesDone: 100 });
  expect(progressOf(tally, 10_000)).toMatchObject({ share: 0.25, left: 30_000 });
});

test("documents that an earlier process read count for nothing, and where all are such, nothing is left", () => {
  const resumed = tallyOf({ documents: 9, documentsFound: 5, documentsBegun: 2, pagesExpected: 200, pagesDone: 100 });
  expect(progressOf(resumed, 10_000)).toMatchObject({ share: 0.25, left: 30_000 });
  const read = tallyOf({ documents: 9, documentsFound: 9, documentsDone: 9 });
  expect(progressOf(read, 10_000)).toMatchObject({ share: 1, left: 0 });
});

test("requests that workers have sent count before a result tells of them", () => {
  const tally = tallyOf({ requestsElsewhere: 60 });
  Object.assign(tally.requests, { sent: 41, answered: 40 });
  expect(progressOf(tally, 10_000)).toMatchObject({ requests: 101, rate: 10 });
});

test("documents that failed are not waited for", () => {
  const tally = tallyOf({ documents: 3, documentsBegun: 2, documentsFailed: 1, pagesExpected: 10, pagesDone: 5 });
  expect(progressOf(tally, 1000)).toMatchObject({ share: 0.5, left: 1000 });
});

test("nothing is foretold before anything is known, and the share never passes 1", () => {
  expect(progressOf(tallyOf({ documents: 4 }), 1000)).toMatchObject({ share: undefined, left: undefined });
  expect(progressOf(tallyOf({ documents: 1, documentsBegun: 1, pagesExpected: 2, pagesDone: 3 }), 1000).share).toBe(1);
});

test("a shard says which one it is, first", () => {
  const tally = tallyOf({ documents: 2 });
  expect(renderRun(tally, { index: 3, count: 16 }).lines(1_000)[0]).toMatch(/^shard 3 of 16 · 0\/2 documents · /);
  expect(renderRun(tally).lines(1_000)[0]).toMatch(/^0\/2 documents · /);
});

test("one line says how long, how far and how fast", () => {
  const tally = tallyOf({
    documents: 13,
    documentsDone: 4,
    documentsBegun: 13,
    chunks: 4800,
    child_chunks: 1,
    pagesExpected: 10,
    pagesDone: 5,
  });
  tally.requests.answered = 2360;
  expect(renderProgress(progressOf(tally, 10_000))).toBe(
    "10.0 s left · 4/13 documents · 4,800 chunks · 1 child chunk · 236 requests/s",
  );
  expect(renderProgress(progressOf({ ...tally, step: "writing duckdb", pagesDone: 10 }, 10_000))).toMatch(
    /^writing duckdb · 4\/13/,
  );
});

test("while answers hang, the line says for how many, and foretells nothing", () => {
  const tally = tallyOf({ documents: 2, documentsBegun: 2, pagesExpected: 10, pagesDone: 5 });
  Object.assign(tally.requests, { inFlight: 3, silentSince: 1_000 });
  expect(renderProgress(progressOf(tally, 60_000, 10_999))).toMatch(/^1 min 0 s left · /);
  expect(renderProgress(progressOf(tally, 60_000, 51_400))).toMatch(/^waiting 50 s for 3 answers · 0\/2 documents · /);
  expect(progressOf(tally, 60_000, 51_400)).toMatchObject({ waiting: 50_400, inFlight: 3, left: undefined });
  tally.requests.inFlight = 0;
  expect(progressOf(tally, 60_000, 51_400)).toMatchObject({ waiting: undefined, left: 60_000 });
});

test("a bar is as wide with every share", () => {
  expect(renderBar(0.5, 10)).toBe("━━━━━╌╌╌╌╌  50 %");
  const widths = [undefined, 0, 0.01, 0.999, 1].map((share) => renderBar(share, 10).length);
  expect(new Set(widths).size).toBe(1);
});

test.each([
  [0, 0, undefined],
  [3, undefined, undefined],
  [3, 90_001, undefined],
  [3, 90_000, 10_000],
  [0, 50_000, undefined],
])("%i in flight, silent since %s: %s", (inFlight, silentSince, expected) => {
  expect(waitingTime({ inFlight, silentSince }, 100_000)).toBe(expected);
});

test.each([
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
  const tally = { step: "reading chunks.csv", expected: 200, done: 50 };
  const view = openView({
    output,
    env: { NO_COLOR: "1" },
    format: options.format ?? "text",
    quiet: options.quiet ?? false,
  });
  const stop = view.watch(renderReading(tally));
  vi.advanceTimersByTime(wait);
  stop();
  vi.advanceTimersByTime(60_000);
  return text;
}

test("a line every 10 s where there is no terminal", () => {
  expect(withoutTimes(watched({}, 25_000))).toBe(
    "25 % · reading chunks.csv · 30.0 s left\n25 % · reading chunks.csv · 1 min 0 s left\n",
  );
  expect(watched({}, 9000)).toBe("");
});

test("a bar on a terminal, which is removed at the end and never wider than it", () => {
  const drawn = watched({ isTTY: true }, 2000).split("\r\x1b[J").map(stripVTControlCharacters);
  expect(drawn).toHaveLength(21);
  expect(drawn[0]).toBe("━━━╌╌╌╌╌╌╌╌╌  25 %  reading chunks.csv · 0.3 s left\r");
  expect(drawn.at(-1)).toBe("");
  for (const line of drawn) expect(line.trimEnd().length).toBeLessThan(60);
});

test("JSON lines for machines, and nothing at all", () => {
  expect(JSON.parse(watched({ format: "json" }, 10_000))).toEqual({
    time: expect.any(String),
    level: "info",
    message: "progress",
    step: "reading chunks.csv",
    share: 0.25,
    elapsed_seconds: 10,
    remaining_seconds: 30,
  });
  expect(watched({ quiet: true, isTTY: true }, 100_000)).toBe("");
});
