import { expect, test } from "vitest";
import type { WatchedStatus } from "../../src/status/watch-status.js";
import { pageFor } from "../../src/terminal/text.js";
import { renderWatchResult, timeoutText } from "../../src/terminal/watch-result.js";
import { statusRow } from "../indexing/reading.js";

const now = Date.parse("2026-11-20T02:00:00Z");
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

test("what has not ended in time, counted", () => {
  const rows = ["completed", "indexing", "paused", "error"].map((status) => statusRow({ indexing_status: status }));
  expect(timeoutText({ ...base, rows }, 90_000)).toBe(
    "2 of 4 documents have not finished within 1 min 30 s; --timeout sets the limit",
  );
  expect(timeoutText({ ...base, rows: rows.slice(0, 2) }, 1_000)).toMatch(
    /^1 of 2 documents has not finished within 1\.0 s;/,
  );
  expect(timeoutText({ ...base, rows: [] }, 1_000)).toMatch(/^no batch could be read within/);
});
