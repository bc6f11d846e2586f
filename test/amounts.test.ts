import { assert, integer, maxSafeInteger, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { bytesText, countText, durationText, numberText } from "../src/amounts.js";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [1_234_567, "1.2 MB"],
  [5e9, "5.0 GB"],
  [3e15, "3000.0 TB"],
])("%d bytes", (bytes, text) => expect(bytesText(bytes)).toBe(text));

test.each([
  [0, "0.0 s"],
  [1234, "1.2 s"],
  [59_960, "1 min 0 s"],
  [125_000, "2 min 5 s"],
  [11_520_000, "3 h 12 min"],
  [180_000_000, "2 d 2 h"],
  [-5, "0.0 s"],
])("%d milliseconds", (milliseconds, text) => expect(durationText(milliseconds)).toBe(text));

test("counts", () => {
  expect([countText(0, "chunk"), countText(1, "chunk"), countText(12_345, "chunk")]).toEqual([
    "0 chunks",
    "1 chunk",
    "12,345 chunks",
  ]);
});

test("every whole number is grouped as the language does it", () => {
  assert(
    property(oneof(integer(), maxSafeInteger()), (count) => {
      expect(numberText(count)).toBe(count.toLocaleString("en-US"));
    }),
  );
});
