import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runIdFrom, timeOfRun } from "../../src/dump/run-id.js";
import { periodOf } from "../../src/store/keep-runs.js";

test.each([
  ["20261120T020000123Z", "2026-11-20T02:00:00.123Z"],
  ["20240229T235959999Z", "2024-02-29T23:59:59.999Z"],
])("%s is %s", (runId, time) => {
  expect(timeOfRun(runId)).toBe(Date.parse(time));
});

test.each([
  "20261320T020000123Z",
  "20260230T020000123Z",
  "20261120T250000123Z",
  "20261120T020000Z",
  "20261120T020000123Z.bak",
  "latest",
  "",
])("%s names no time", (text) => {
  expect(timeOfRun(text)).toBeUndefined();
});

test("every time of a run can be read back from its id", () => {
  const times = fc.date({ min: new Date("1971-01-01"), max: new Date("2999-12-31"), noInvalidDate: true });
  fc.assert(
    fc.property(times, (time) => {
      expect(timeOfRun(runIdFrom(time))).toBe(time.getTime());
    }),
  );
});

test.each([
  ["2026-11-20T02:00:00Z", "2026-11-20", "2026-W47", "2026-11"],
  ["2027-01-03T23:59:59Z", "2027-01-03", "2026-W53", "2027-01"],
  ["2027-01-04T00:00:00Z", "2027-01-04", "2027-W01", "2027-01"],
  ["2024-12-30T00:00:00Z", "2024-12-30", "2025-W01", "2024-12"],
])("%s lies in %s, %s, %s", (time, day, week, month) => {
  const { daily, weekly, monthly } = periodOf;
  expect([daily, weekly, monthly].map((period) => period(Date.parse(time)))).toEqual([day, week, month]);
});

test("weeks are those that date(1) knows", () => {
  const times = Array.from({ length: 400 }, (_, index) => Date.UTC(2019, 11, 1) + index * 9 * 86_400_000);
  const input = times.map((time) => `@${time / 1000}\n`).join("");
  const known = execFileSync("date", ["-u", "-f", "-", "+%G-W%V"], { input, encoding: "utf8" });
  expect(times.map(periodOf.weekly)).toEqual(known.trim().split("\n"));
});
