import fc from "fast-check";
import { expect, test } from "vitest";
import { BatchSize, firstSize, largestSize } from "../../../src/restore/copy/document-work.js";

test("the size doubles while full requests are quick, up to the largest", () => {
  const batch = new BatchSize();
  const sizes = Array.from({ length: 6 }, () => {
    const { size } = batch;
    batch.answered(size, 1_999);
    return size;
  });
  expect(sizes).toEqual([20, 40, 80, 160, 200, 200]);
});

test("a request that is neither fast nor slow, or not full, changes nothing", () => {
  const batch = new BatchSize();
  batch.answered(20, 2_000);
  batch.answered(20, 20_000);
  batch.answered(19, 0);
  expect(batch.size).toBe(20);
});

test("a slow request halves the size, and so does one without an answer, by the chunks that it had", () => {
  const batch = new BatchSize();
  batch.answered(20, 20_001);
  expect(batch.size).toBe(10);
  batch.lost(20); // the loss of a request that was sent before the size shrank
  expect(batch.size).toBe(10);
  batch.lost(10);
  expect(batch.size).toBe(5);
  batch.answered(5, 0);
  expect(batch.size).toBe(10);
});

test("the cap of the service holds, whatever follows", () => {
  const batch = new BatchSize();
  batch.keepTo(7);
  expect(batch.size).toBe(7);
  batch.answered(7, 0);
  batch.keepTo(9);
  expect(batch.size).toBe(7);
  batch.lost(7);
  expect(batch.size).toBe(3);
});

const event = fc.oneof(
  fc.record({ kind: fc.constant("answered"), chunks: fc.nat(400), milliseconds: fc.nat(60_000) }),
  fc.record({ kind: fc.constant("lost"), chunks: fc.nat(400), milliseconds: fc.constant(0) }),
  fc.record({ kind: fc.constant("keepTo"), chunks: fc.nat(400), milliseconds: fc.constant(0) }),
);

test("whatever happens, the size is from 1 to the largest, below the cap, and at most doubles", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const batch = new BatchSize();
      expect(batch.size).toBe(firstSize);
      let cap = largestSize;
      for (const { kind, chunks, milliseconds } of events) {
        const before = batch.size;
        if (kind === "answered") batch.answered(chunks, milliseconds);
        else if (kind === "lost") batch.lost(chunks);
        else {
          batch.keepTo(chunks);
          cap = Math.min(cap, Math.max(1, chunks));
        }
        expect(batch.size).toBeGreaterThanOrEqual(1);
        expect(batch.size).toBeLessThanOrEqual(Math.min(cap, before * 2));
        if (kind === "lost" || milliseconds > 20_000) expect(batch.size).toBeLessThanOrEqual(Math.max(1, chunks / 2));
      }
    }),
  );
});
