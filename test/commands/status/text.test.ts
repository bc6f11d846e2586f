import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openView } from "../../../src/cli/progress-view.js";
import { pageFor, terminalText } from "../../../src/cli/text.js";
import {
  renderDocumentLine,
  renderWatch,
  renderWatchBlock,
  renderWatchLines,
  renderWatchProgress,
  renderWatchResult,
  timeoutText,
  WatchNews,
} from "../../../src/commands/status.js";
import type { WatchedStatus } from "../../../src/status/status-result.js";

import { emptyWatchProgress } from "../../../src/status/watched-documents.js";
import { withoutTimes } from "../../cli/run-kbdump.js";
import { Screen } from "../../cli/screen.js";
import { statusRow } from "../../status/reading.js";
import { indexing, poll, progressOf } from "./watched.js";

const now = Date.parse("2026-11-20T02:00:00Z");
const [a, b, c] = ["a", "b", "c"].map((letter) => `${letter.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`);
const completed = (document_id = "x") => ({ document_id, indexing_status: "completed" });
const screen = { columns: 100, rows: 24 };

test("one line for all: how many are done, and when the slowest is", () => {
  const progress = progressOf(now, [indexing("a", 2), indexing("b", 1)], [indexing("a", 4), indexing("b", 2)]);
  expect(renderWatchProgress(progress, now)).toBe("0 of 2 documents completed · 6.0 s left");
  const mixed = progressOf(now, [completed("x"), { document_id: "y", indexing_status: "error" }, indexing("a", 1)]);
  expect(renderWatchProgress(mixed, now)).toBe("1 of 3 documents completed, 1 failed");
  expect(renderWatchProgress(mixed, now + 90_000)).toBe(
    "1 of 3 documents completed, 1 failed · last read 1 min 30 s ago",
  );
  expect(renderWatchProgress(emptyWatchProgress(), now)).toBe("reading the status of the batches");
});

test("a bar for each that is not done: stage, percent and time left, no wider than the terminal", () => {
  const rows = [indexing(String(a), 4), { document_id: b, indexing_status: "waiting" }, completed(c)];
  const progress = progressOf(now, [indexing(String(a), 2), ...rows.slice(1)], rows);
  expect(renderWatchBlock(progress, now, screen)).toEqual([
    "1 of 3 documents completed",
    `${a}  ${"━".repeat(12)}${"╌".repeat(12)}  50 %  indexing · 2.0 s left`,
    `${b}  ${"╌".repeat(24)}        waiting`,
  ]);
  expect(renderWatchBlock(progress, now, { ...screen, columns: 60 })[1]).toBe(
    `aaaaaaaa  ${"━".repeat(6)}${"╌".repeat(6)}  50 %  indexing · 2.0 s left`,
  );
  for (const columns of [1, 5, 20, 79]) {
    for (const line of renderWatchBlock(progress, now, { columns, rows: 24 }))
      expect(line.length).toBeLessThan(columns);
  }
});

test("if not all documents fit, the ones being indexed come first and the rest is counted", () => {
  const waiting = Array.from({ length: 5_000 }, (_each, n) => ({ document_id: `w${n}`, indexing_status: "waiting" }));
  const lines = renderWatchBlock(progressOf(now, [...waiting, indexing("busy", 4)]), now, { columns: 80, rows: 8 });
  expect(lines).toHaveLength(6);
  expect(lines[1]).toMatch(/^busy /);
  expect(lines.at(-1)).toBe("… and 4,997 more documents");
  expect(renderWatchBlock(progressOf(now, [indexing("busy", 4)]), now, { columns: 80, rows: 1 })).toHaveLength(2);
});

test("text from the service can neither move the cursor nor make a line too wide", () => {
  const odd = { ...indexing("\u001b[2J漢字漢字漢字", 4), indexing_status: `\u202e${"進".repeat(40)}` };
  const progress = progressOf(now, [odd]);
  const [, line = ""] = renderWatchBlock(progress, now, { columns: 60, rows: 24 });
  for (const sign of ["\u001b", "\u202e"]) expect(line).not.toContain(sign);
  const columns = [...line].reduce((sum, sign) => sum + (/\p{Script=Han}/u.test(sign) ? 2 : 1), 0);
  expect(columns).toBeLessThan(60);
  for (const document of progress.documents.values()) {
    expect(renderDocumentLine(document, now)).toBe(terminalText(renderDocumentLine(document, now)));
  }
});

test("a separate line for a document that reached another stage", () => {
  const progress = progressOf(now, [indexing("d", 2, 1_200)], [indexing("d", 4, 1_200)]);
  const [document] = progress.documents.values();
  expect(document && renderDocumentLine(document, now)).toBe(
    "document d: indexing · 4 of 1,200 chunks, 0 % · 9 min 58 s left",
  );
});

test("from time to time: few documents one by one, many in one line, and so what is old or over", () => {
  const rows = ["a", "b", "c"].map((id) => indexing(id, 6));
  const progress = progressOf(now, [...rows, completed()]);
  expect(renderWatchLines(progress, now)).toEqual(
    rows.map(({ document_id }) => `document ${document_id}: indexing · 6 of 8 chunks, 75 %`),
  );
  expect(renderWatchLines(progress, now + 90_000)).toEqual(["1 of 4 documents completed · last read 1 min 30 s ago"]);
  expect(renderWatchLines(progressOf(now, [...rows, indexing("d", 1)]), now)).toEqual(["0 of 4 documents completed"]);
  expect(renderWatchLines(progressOf(now, [completed()]), now)).toEqual(["1 of 1 document completed"]);
  expect(renderWatchLines(emptyWatchProgress(), now)).toEqual(["reading the status of the batches"]);
});

beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["setInterval", "clearInterval", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function open(isTTY: boolean, more: { format?: "text" | "json"; quiet?: boolean } = {}) {
  const written: string[] = [];
  const output = { isTTY, columns: 60, rows: 10, write: (text: string) => written.push(text) };
  const progress = emptyWatchProgress();
  const view = openView({ output, env: { NO_COLOR: "1" }, format: "text", quiet: false, ...more });
  const news = new WatchNews();
  return {
    written,
    progress,
    view,
    stop: view.watch(renderWatch(progress)),
    poll: (...rows: Parameters<typeof poll>[2][]) => view.report(news.from(poll(progress, Date.now(), ...rows))),
  };
}

/** The screen of a terminal after this output, line by line. */
function screenOf(written: readonly string[]): readonly string[] {
  const screen = new Screen(60);
  screen.write(written.join(""));
  return screen.lines;
}

test("on a terminal a block is redrawn in place, with messages above it, and cleared at the end", () => {
  const { written, view, stop, poll } = open(true);
  poll(indexing("one", 2), indexing("two", 4));
  expect(screenOf(written)).toEqual([
    "0 of 2 documents completed",
    expect.stringMatching(/^one .*25 %/),
    expect.stringMatching(/^two .*50 %/),
  ]);
  view.log("warn", "odd \u001b[2J thing");
  vi.advanceTimersByTime(5_000);
  poll(indexing("one", 4), { document_id: "two", indexing_status: "completed" });
  expect(screenOf(written)).toEqual([
    "warning: odd  [2J thing",
    "1 of 2 documents completed · 10.0 s left",
    expect.stringMatching(/^one .*50 %.*10\.0 s left/),
  ]);
  stop();
  expect(screenOf(written)).toEqual(["warning: odd  [2J thing"]);
  const before = written.length;
  vi.advanceTimersByTime(60_000);
  expect(written).toHaveLength(before);
});

test("outside a terminal, a line for each new stage, and progress every ten seconds", () => {
  const { written, view, stop, poll } = open(false);
  poll(indexing("one", 2), { document_id: "two", indexing_status: "waiting" });
  poll(indexing("one", 3), { document_id: "two", indexing_status: "waiting" });
  poll(indexing("one", 4), { document_id: "two", indexing_status: "completed" });
  view.log("info", "said");
  vi.advanceTimersByTime(10_000);
  stop();
  expect(written.map(withoutTimes)).toEqual([
    "document one: indexing · 2 of 8 chunks, 25 %\n",
    "document two: waiting\n",
    "document two: completed\n",
    "said\n",
    "document one: indexing · 4 of 8 chunks, 50 % · 20.0 s left\n",
  ]);
  expect(written.join("")).toBe(stripVTControlCharacters(written.join("")));
});

test("of many that come to another stage at once ten are named", () => {
  const { written, poll } = open(false);
  poll(...Array.from({ length: 5_000 }, (_each, n) => indexing(`d${n}`, 1)));
  expect(written).toHaveLength(11);
  expect(withoutTimes(written.at(-1) ?? "")).toBe("… and 4,990 more documents reached another stage\n");
});

test("JSON: a line for every reading with news, and for every message", () => {
  const { written, view, stop, poll } = open(true, { format: "json" });
  poll(indexing("one", 2));
  poll(indexing("one", 2));
  poll(indexing("one", 4));
  view.log("warn", "odd \u009b2J thing");
  vi.advanceTimersByTime(10_000);
  stop();
  const lines = written.map((line) => JSON.parse(line));
  const time = "2026-11-20T02:00:00.000Z";
  const reading = { time, level: "info", message: "reading", dataset_id: "set", batch: "b", document_id: "one" };
  const said = { indexing_status: "indexing", total_segments: 8, remaining_seconds: null };
  expect(lines).toEqual([
    { ...reading, ...said, completed_segments: 2, share: 0.25 },
    { ...reading, ...said, completed_segments: 4, share: 0.5 },
    { time, level: "warn", message: "odd \u009b2J thing" },
    {
      time: lines[3].time,
      level: "info",
      message: "progress",
      ...{ step: "watching", done: 0, of: 1, unit: "document", per_second: 0, share: 0, silent_seconds: null },
      ...{ counts: { documents: 1, completed: 0, failed: 0 }, elapsed_seconds: 10, remaining_seconds: 20 },
    },
  ]);
  expect(written.join("")).not.toContain("\u009b");
});

test("quiet: nothing at all", () => {
  const { written, view, stop, poll } = open(true, { quiet: true });
  poll(indexing("one", 2));
  view.log("warn", "said");
  stop();
  expect(written).toEqual([]);
});

const page = pageFor({}, {});
const base: WatchedStatus = {
  status: "completed",
  seconds: 125,
  polls: 25,
  readings: 1_200,
  rows: [statusRow({ indexing_status: "completed" })],
  drift: {},
  database: "out/a\u001b[2J.duckdb",
  added: true,
};

test("the verdict, the table, and where the readings are", () => {
  const text = renderWatchResult(base, now, page);
  expect(text.split("\n")).toEqual([
    "completed: 1 document in 2 min 5 s, 1,200 readings",
    "",
    "document  status     done  age  error",
    "doc       completed  –     –",
    "",
    "added to out/a [2J.duckdb",
  ]);
  expect(renderWatchResult({ ...base, status: "error", added: false }, now, page)).toMatch(
    /^ended with errors: .*\n[\s\S]*\nthe next run adds them to out/,
  );
  expect(renderWatchResult({ ...base, status: "timeout", rows: [], readings: 0 }, now, page)).toBe(
    "not completed in time: 0 documents in 2 min 5 s, 0 readings\n\nno status was read",
  );
});

test("counts documents that did not finish in time", () => {
  const rows = ["completed", "indexing", "paused", "error"].map((status) => statusRow({ indexing_status: status }));
  expect(timeoutText({ ...base, rows }, 90_000)).toBe(
    "2 of 4 documents have not finished within 1 min 30 s; --timeout sets the limit",
  );
  expect(timeoutText({ ...base, rows: rows.slice(0, 2) }, 1_000)).toMatch(
    /^1 of 2 documents has not finished within 1\.0 s;/,
  );
  expect(timeoutText({ ...base, rows: [] }, 1_000)).toMatch(/^no batch could be read within/);
});
