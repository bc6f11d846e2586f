import fc from "fast-check";
import { expect, test } from "vitest";
import { ofOneRequest } from "../../../src/restore/copy/copy-rows.js";

const chunk = (bytes: number, answer: string | null = null) => ({ content: "x".repeat(bytes), answer });

test("a request has at most 1 MB of content and answers, in bytes, unless a single chunk is longer", () => {
  expect(ofOneRequest([chunk(500_000), chunk(500_000), chunk(1)])).toHaveLength(2);
  expect(ofOneRequest([chunk(500_000), chunk(1, "x".repeat(500_000))])).toHaveLength(1);
  expect(ofOneRequest([{ content: "語".repeat(300_000), answer: null }, chunk(200_000)])).toHaveLength(1);
  expect(ofOneRequest([chunk(2_000_000), chunk(1)])).toHaveLength(1);
});

test("requests one after the other have every chunk once, in order", () => {
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.integer({ min: 300_000, max: 1_200_000 })), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 5 }), (bytes, most) => {
      const chunks = bytes.map((each) => chunk(each));
      const sent: unknown[] = [];
      while (sent.length < chunks.length) sent.push(...ofOneRequest(chunks.slice(sent.length, sent.length + most)));
      expect(sent.every((each, at) => each === chunks[at])).toBe(true);
    }),
    { numRuns: 20 },
  );
});
