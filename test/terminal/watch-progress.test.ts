import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { emptyWatchTally } from "../../src/status/watched-documents.js";
import { openView } from "../../src/terminal/view.js";
import { renderWatch, WatchNews } from "../../src/terminal/watch-progress.js";
import { withoutTimes } from "../cli/run-kbdump.js";
import { Screen } from "./screen.js";
import { indexing, poll } from "./watched.js";

const now = Date.parse("2026-11-20T02:00:00Z");
beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ["setInterval", "clearInterval", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function open(isTTY: boolean, more: { format?: "text" | "json"; quiet?: boolean } = {}) {
  const written: string[] = [];
  const output = { isTTY, columns: 60, rows: 10, write: (text: string) => written.push(text) };
  const tally = emptyWatchTally();
  const view = openView({ output, env: { NO_COLOR: "1" }, format: "text", quiet: false, ...more });
  const news = new WatchNews();
  return {
    written,
    tally,
    view,
    stop: view.watch(renderWatch(tally)),
    poll: (...rows: Parameters<typeof poll>[2][]) => view.tell(news.from(poll(tally, Date.now(), ...rows))),
  };
}

/** The screen after all that was written. */
function screenOf(written: readonly string[]): readonly string[] {
  const screen = new Screen(60);
  screen.write(written.join(""));
  return screen.lines;
}

test("on a terminal a block is drawn over, what is said stands above it, and it is gone at the end", () => {
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

test("elsewhere a line for another stage, and every ten seconds how far it is", () => {
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

test("JSON: a line for every reading that tells something new, and for what is said", () => {
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
      documents: 1,
      completed: 0,
      failed: 0,
      elapsed_seconds: 10,
      remaining_seconds: 20,
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
