import fc from "fast-check";
import { expect, test } from "vitest";
import type { TextPart } from "../../../src/compare/diff-result.js";
import { diffText } from "../../../src/compare/read-changes.js";
import { groupWords } from "../../../src/report/sections/lost.js";

const grouped = (old: string, fresh: string) =>
  groupWords(diffText(old, fresh) ?? []).map(({ kind, text }) => `${kind} ${text}`);

test("two sentences with a word or two in common are shown one after the other", () => {
  expect(grouped("The last page is number 9.", 'She asked: "Is this the last page?" He said: "No."')).toEqual([
    "removed The last page is number 9.",
    'added She asked: "Is this the last page?" He said: "No."',
  ]);
});

test("a sentence with some changed words is shown word by word", () => {
  expect(grouped("The office closes at six.", "The office closes at five.")).toEqual([
    "same The office closes at ",
    ...["removed six", "added five", "same ."],
  ]);
  expect(grouped("", "Nothing stood here.")).toEqual(["added Nothing stood here."]);
});

test("no character of either text is lost", () => {
  const text = fc.array(fc.constantFrom("one", "two", "three", " ", ".", "四", "\n")).map((words) => words.join(""));
  const sideOf = (parts: readonly TextPart[], kind: string) =>
    parts
      .filter((part) => part.kind === "same" || part.kind === kind)
      .map((part) => part.text)
      .join("");
  fc.assert(
    fc.property(text, text, (old, fresh) => {
      const parts = groupWords(diffText(old, fresh) ?? []);
      fc.pre(parts.length > 0 && parts.every(({ cut }) => cut === 0));
      expect([sideOf(parts, "removed"), sideOf(parts, "added")]).toEqual([old, fresh]);
    }),
  );
});
