import fc from "fast-check";
import { expect, test } from "vitest";
import { fileText, quotedText } from "../src/safe-text.js";

test.each([
  ["plain", '"plain"'],
  ['say "hi"\n', '"say \\"hi\\"\\n"'],
  ["\u001b[31m\u009b\u2028\u202e\u{e0001}", '"\\u001b[31m\\u009b\\u2028\\u202e\\udb40\\udc01"'],
  ["x".repeat(61), `"${"x".repeat(60)}…"`],
  ["😀".repeat(61), `"${"😀".repeat(60)}…"`],
])("%j", (text, quoted) => {
  expect(quotedText(text)).toBe(quoted);
});

test("the name of a file is never cut", () => {
  expect(fileText("x".repeat(500))).toBe(`"${"x".repeat(500)}"`);
});

test("is JSON of the same text if nothing is cut, with no invisible characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 30 }), (text) => {
      expect(JSON.parse(quotedText(text))).toBe(text);
      expect(quotedText(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    }),
  );
});
