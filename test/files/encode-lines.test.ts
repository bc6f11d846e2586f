import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeLines, LineEncoder } from "../../src/files/lines.js";

const texts = fc.array(
  fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
  { maxLength: 20 },
);
const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(""));

it("returns UTF-8 with a line feed after each text, although it reuses its memory", () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 6 }), (batches) => {
      const encoder = new LineEncoder();
      for (const batch of batches) {
        expect(encoder.encode(batch)).toEqual(bytesOf(batch));
        expect(encodeLines(batch)).toEqual(bytesOf(batch));
      }
    }),
  );
});

it("has room for lines of nothing but wide characters", () => {
  const lines = ["附".repeat(1000), "", "😀".repeat(1000)];
  expect(encodeLines(lines)).toEqual(bytesOf(lines));
});

it("keeps no memory of unusually long lines, because many documents are encoded at once", () => {
  const encoder = new LineEncoder();
  const long = "x".repeat(6_000_000);
  expect(encoder.encode([long]).toString()).toBe(`${long}\n`);
  expect(encoder.encode(["y"]).buffer.byteLength).toBeLessThan(5_000_000);
});
