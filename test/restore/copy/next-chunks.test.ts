import fc from "fast-check";
import { expect, test } from "vitest";
import { nextChunks } from "../../../src/restore/copy/add-chunks.js";

const chunk = (bytes: number, answer: string | null = null) => ({ content: "x".repeat(bytes), answer });

test("a request has as many chunks as asked for, and the rest at the end", () => {
  const chunks = [chunk(1), chunk(2), chunk(3)];
  expect(nextChunks(chunks, 0, 2)).toEqual(chunks.slice(0, 2));
  expect(nextChunks(chunks, 2, 2)).toEqual(chunks.slice(2));
  expect(nextChunks(chunks, 0, 0)).toEqual(chunks.slice(0, 1));
});

test("a request has 1 MB of content and answers at the most, in bytes, unless one chunk alone is longer", () => {
  expect(nextChunks([chunk(500_000), chunk(500_000), chunk(1)], 0, 9)).toHaveLength(2);
  expect(nextChunks([chunk(500_000), chunk(1, "x".repeat(500_000))], 0, 9)).toHaveLength(1);
  expect(nextChunks([{ content: "語".repeat(300_000), answer: null }, chunk(200_000)], 0, 9)).toHaveLength(1);
  expect(nextChunks([chunk(2_000_000), chunk(1)], 0, 9)).toHaveLength(1);
});

test("requests one after the other have every chunk once, in order", () => {
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.integer({ min: 300_000, max: 1_200_000 })), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, fc.nat(5), (bytes, most) => {
      const chunks = bytes.map((each) => chunk(each));
      const sent: unknown[] = [];
      while (sent.length < chunks.length) sent.push(...nextChunks(chunks, sent.length, most));
      expect(sent.every((each, at) => each === chunks[at])).toBe(true);
    }),
    { numRuns: 20 },
  );
});
