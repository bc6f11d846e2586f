import fc from "fast-check";
import { expect, test } from "vitest";
import { SkipError } from "../../src/errors.js";
import type { Row } from "../../src/rows/row.js";
import { advance, countsOf, isOver, stateOf, type WatchedDocuments } from "../../src/status/watched-documents.js";
import { batchReading, statusRow } from "./reading.js";

const none: WatchedDocuments = new Map();
const [first] = [...advance(none, [batchReading({})], 0).documents.values()];

test.each([
  ["completed", "completed"],
  ["error", "error"],
  ["paused", "paused"],
  ["indexing", "working"],
  ["a stage of tomorrow", "working"],
  [null, "working"],
])("the status %j is %s", (status, state) => {
  expect(stateOf(statusRow({ indexing_status: status }))).toBe(state);
});

test.each([
  [0, 0, undefined],
  [0, 8, { done: 0, total: 8 }],
  [9, 8, { done: 8, total: 8 }],
  [-1, 8, { done: 0, total: 8 }],
  [null, 8, undefined],
  ["5", "8", undefined],
])("%j of %j chunks is %j", (done, total, counts) => {
  expect(countsOf(statusRow({ completed_segments: done, total_segments: total }))).toEqual(counts);
});

test("for any sequence, every reading that differs from the one before is kept", () => {
  const facts = fc.record({
    indexing_status: fc.constantFrom("waiting", "indexing", "completed", null),
    completed_segments: fc.integer({ min: 0, max: 2 }),
    error: fc.constantFrom(null, "x", { a: 1 }),
    extra: fc.constantFrom(null, { n: 1 }),
  });
  fc.assert(
    fc.property(fc.array(facts, { minLength: 1, maxLength: 30 }), (updates) => {
      const kept: Row[] = [];
      let documents = none;
      updates.forEach((row, at) => {
        const step = advance(documents, [batchReading({ ...row, captured_at: `at ${at}` })], at);
        documents = step.documents;
        kept.push(...step.changed.map((document) => document.row));
      });
      const texts = updates.map((row) => JSON.stringify(row));
      const expected = updates.flatMap((row, at) =>
        texts[at] === texts[at - 1] ? [] : [{ ...row, captured_at: `at ${at}` }],
      );
      expect(kept).toEqual(expected.map((row) => statusRow(row)));
      expect(documents.size).toBe(1);
    }),
  );
});

test("an unknown field is a change, but not progress", () => {
  const { documents } = advance(none, [batchReading({ extra: { now: 1 } })], 0);
  const step = advance(documents, [batchReading({ extra: { now: 2 } })], 1000);
  expect(step.changed).toHaveLength(1);
  expect(step.changed[0]).toMatchObject({ firstSeen: 0, moved: undefined });
  const [moved] = advance(step.documents, [batchReading({ extra: { now: 2 }, total_segments: 3 })], 2000).changed;
  expect(moved).toMatchObject({ firstSeen: 0, moved: 2000 });
});

test("documents of one id in two batches are two, and so are two of one batch", () => {
  const other = { ...batchReading({}), batch: "c", rows: [statusRow({ batch: "c" })] };
  const { documents } = advance(none, [batchReading({}, { document_id: "two" }), other], 0);
  expect([...documents.values()].map(({ row }) => [row.batch, row.document_id])).toEqual([
    ["b", "doc"],
    ["b", "two"],
    ["c", "doc"],
  ]);
});

test("a document that its batch no longer lists is gone, until it is listed again", () => {
  const { documents } = advance(none, [batchReading({}, { document_id: "two" })], 0);
  const gone = advance(documents, [batchReading({})], 1);
  expect([...gone.documents.values()].map(({ state }) => state)).toEqual(["working", "gone"]);
  expect([...gone.documents.values()].map(isOver)).toEqual([false, true]);
  expect(gone.changed).toEqual([]);
  const back = advance(gone.documents, [batchReading({}, { document_id: "two" })], 2);
  expect([...back.documents.values()].map(({ state }) => state)).toEqual(["working", "working"]);
});

test("a batch that cannot be read leaves its documents as they are", () => {
  const { documents } = advance(none, [batchReading({})], 0);
  const failed = { ...batchReading(), error: new SkipError("away") };
  expect(advance(documents, [failed], 5)).toEqual({ documents, changed: [] });
  expect(first).toMatchObject({ state: "working" });
});
