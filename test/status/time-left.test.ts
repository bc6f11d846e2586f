import fc from "fast-check";
import { expect, test } from "vitest";
import { type Sample, timeLeft, withSample } from "../../src/status/watched-documents.js";
import { statusRow } from "./reading.js";

const indexing = (done: unknown, total: unknown = 100) =>
  statusRow({ indexing_status: "indexing", completed_segments: done, total_segments: total });

/** The samples after these readings, one second apart. */
function samplesOf(rows: readonly ReturnType<typeof statusRow>[]): readonly Sample[] {
  return rows.reduce((samples: readonly Sample[], row, second) => withSample(samples, row, second * 1000), []);
}

test("at a steady rate, the time left is exact", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100 }), (rate, seconds) => {
      const total = rate * 200;
      const rows = Array.from({ length: seconds + 1 }, (_each, second) => indexing(second * rate, total));
      const left = timeLeft(samplesOf(rows), indexing(seconds * rate, total), seconds * 1000);
      expect(left).toBeCloseTo((200 - seconds) * 1000, 3);
    }),
  );
});

test("the estimate is a number from 0 up, or missing, whatever the service counts", () => {
  const count = fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(null, "7", Number.MAX_SAFE_INTEGER));
  const stage = fc.constantFrom("waiting", "splitting", "indexing", "completed", "error", "paused", "new", null);
  const row = fc
    .record({ indexing_status: stage, completed_segments: count, total_segments: count })
    .map((facts) => statusRow(facts));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 100 }), fc.nat(10_000), (rows, later) => {
      const samples = samplesOf(rows);
      expect(samples.length).toBeLessThanOrEqual(32);
      const left = timeLeft(samples, rows.at(-1) ?? {}, rows.length * 1000 + later);
      if (left !== undefined) expect(left >= 0 && Number.isFinite(left)).toBe(true);
    }),
  );
});

test("nothing is said before anything has grown, and before and after the indexing", () => {
  expect(timeLeft(samplesOf([indexing(5)]), indexing(5), 1000)).toBeUndefined();
  expect(timeLeft(samplesOf([indexing(5), indexing(5)]), indexing(5), 5000)).toBeUndefined();
  const samples = samplesOf([indexing(0), indexing(50)]);
  expect(timeLeft(samples, indexing(50), 1000)).toBe(1000);
  expect(timeLeft(samples, { ...indexing(50), indexing_status: "completed" }, 1000)).toBeUndefined();
  expect(timeLeft(samples, indexing(0, 0), 1000)).toBeUndefined();
});

test("the estimate grows while a document stands still, and restarts when its indexing restarts", () => {
  const stalled = samplesOf([indexing(0), indexing(50)]);
  expect(timeLeft(stalled, indexing(50), 2000)).toBe(2000);
  expect(timeLeft(stalled, indexing(50), 10_000)).toBe(10_000);
  expect(samplesOf([indexing(0), indexing(50), indexing(10), indexing(20)])).toEqual([
    { at: 2000, done: 10 },
    { at: 3000, done: 20 },
  ]);
  const restarted = { ...indexing(0, 40), indexing_status: "splitting" };
  expect(samplesOf([indexing(0), indexing(50), restarted])).toEqual([]);
});
