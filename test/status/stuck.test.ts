import { expect, test } from "vitest";
import type { Row } from "../../src/rows/row.js";
import { watchWarnings } from "../../src/status/watch-status.js";
import {
  advance,
  ageOf,
  isStuck,
  stillFor,
  type WatchedDocument,
  type WatchedDocuments,
} from "../../src/status/watched-documents.js";
import { batchReading } from "./reading.js";

const start = Date.parse("2026-11-20T02:00:00Z");
const minute = 60_000;

/** A watched document after readings at these minutes. */
function watched(...readings: readonly (readonly [minutes: number, facts: Row])[]): WatchedDocuments {
  return readings.reduce(
    (documents: WatchedDocuments, [minutes, facts]) =>
      advance(documents, [batchReading(facts)], start + minutes * minute).documents,
    new Map(),
  );
}
const only = (documents: WatchedDocuments): WatchedDocument => {
  const [document] = documents.values();
  if (!document) throw new Error("no document");
  return document;
};
const stillAfter = (documents: WatchedDocuments, minutes: number) =>
  stillFor(only(documents), start + minutes * minute) / minute;

const indexing = { indexing_status: "indexing", completed_segments: 5, total_segments: 8 };

test("a document stands still since its last progress, or else since the start of the watch", () => {
  expect(stillAfter(watched([0, indexing]), 9)).toBe(9);
  expect(stillAfter(watched([0, indexing], [3, { ...indexing, completed_segments: 6 }]), 9)).toBe(6);
  expect(stillAfter(watched([0, indexing], [3, indexing]), 9)).toBe(9);
  const long = { ...indexing, processing_started_at: "2026-11-19T02:00:00Z" };
  expect(stillAfter(watched([0, long]), 9)).toBe(9);
});

test("a document that is old by its times and never moves is stuck after a few readings", () => {
  const old = {
    ...indexing,
    processing_started_at: "2026-11-20T01:00:00Z",
    splitting_completed_at: "2026-11-20T01:49:00Z",
  };
  const isStuckAfter = (...readings: readonly Row[]) =>
    isStuck(only(watched(...readings.map((facts, at) => [at / 60, facts] as const))), start + minute);
  expect(isStuckAfter(old, old)).toBe(false);
  expect(isStuckAfter(old, old, old)).toBe(true);
  expect(isStuckAfter(old, { ...old, completed_segments: 6 }, { ...old, completed_segments: 6 })).toBe(false);
  const young = { ...old, splitting_completed_at: "2026-11-20T01:55:00Z" };
  expect(isStuckAfter(young, young, young)).toBe(false);
  const ahead = { ...old, splitting_completed_at: "2027-01-01T00:00:00Z" };
  expect(isStuckAfter(ahead, ahead, ahead)).toBe(false);
  expect(isStuckAfter(indexing, indexing, indexing)).toBe(false);
  const [warning] = watchWarnings(watched([0, old], [0.1, old], [0.2, old]), start + minute);
  expect(warning?.text).toContain("seems to be stuck: indexing, 5 of 8 chunks, started 61 min ago, no error reported");
});

test("after ten minutes it is stuck, unless there is nothing to wait for", () => {
  const stuckAt = (facts: Row, minutes: number) => isStuck(only(watched([0, facts])), start + minutes * minute);
  expect([9.99, 10].map((minutes) => stuckAt(indexing, minutes))).toEqual([false, true]);
  expect(stuckAt({ indexing_status: "paused" }, 10)).toBe(false);
  expect(stuckAt({ indexing_status: null }, 10)).toBe(true);
  expect(stuckAt({ indexing_status: "completed" }, 10)).toBe(false);
  expect(stuckAt({ indexing_status: "error" }, 10)).toBe(false);
});

test("the age counts from the start of processing, and is missing if the service does not report that", () => {
  const begun = only(watched([0, { ...indexing, processing_started_at: "2026-11-20T01:00:00Z" }]));
  expect(ageOf(begun, start)).toBe(60 * minute);
  expect(ageOf(begun, start - 90 * minute)).toBe(0);
  expect(ageOf(only(watched([0, indexing])), start)).toBeUndefined();
});

test.each<[Row, string | undefined]>([
  [indexing, "has made no progress for 12 min: indexing, 5 of 8 chunks, no error reported"],
  [
    { indexing_status: null, processing_started_at: "2026-11-20T01:00:00Z", error: { a: 1 } },
    'has made no progress for 12 min: unknown, started 72 min ago, {"a":1}',
  ],
  [{ indexing_status: "error", error: "too long" }, "ended in an error: too long"],
  [{ indexing_status: "error" }, "ended in an error: no reason reported"],
  [{ indexing_status: "paused" }, "is paused until someone resumes it"],
  [{ indexing_status: "completed" }, undefined],
])("after 12 minutes of %j: %s", (facts, text) => {
  const warnings = watchWarnings(watched([0, facts]), start + 12 * minute);
  expect(warnings.map((warning) => warning.text)).toEqual(text ? [`document doc of batch "b" ${text}`] : []);
});

test("pauses and missing documents are reported at once, each under its own name", () => {
  const paused = watchWarnings(watched([0, { indexing_status: "paused" }]), start);
  expect(paused).toMatchObject([{ text: expect.stringContaining("is paused until someone resumes it") }]);
  const both = advance(new Map(), [batchReading({}, { document_id: "two" })], start).documents;
  const gone = watchWarnings(advance(both, [batchReading({})], start).documents, start);
  expect(gone).toMatchObject([{ text: expect.stringMatching(/^document two of batch "b" is no longer in its batch/) }]);
  expect(new Set([...paused, ...gone].map(({ about }) => about)).size).toBe(2);
});
