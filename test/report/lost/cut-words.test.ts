import fc from "fast-check";
import { expect, test } from "vitest";
import { cutWords } from "../../../src/report/lost/gather-lost.js";
import type { WordPart } from "../../../src/report/lost-facts.js";

const part = (kind: WordPart["kind"], text: string, cut = 0): WordPart => ({ kind, text, cut });

test("words that fit stay as they are", () => {
  const parts = [part("same", "one "), part("removed", "two", 7)];
  expect(cutWords(parts, 7)).toBe(parts);
  expect(cutWords([], 0)).toEqual([]);
});

test("the part that does not fit is cut, and the rest counted", () => {
  const parts = [part("same", "one "), part("removed", "two three", 5), part("added", "four", 2), part("same", "five")];
  expect(cutWords(parts, 7)).toEqual([part("same", "one "), part("removed", "two…", 11), part("same", "…", 10)]);
  expect(cutWords(parts.slice(0, 2), 7)).toEqual([part("same", "one "), part("removed", "two…", 11)]);
  expect(cutWords([part("removed", "a😀b")], 2)).toEqual([part("removed", "a…", 3)]);
});

test("no character is lost uncounted, none is halved, and little more than the most is shown", () => {
  const parts = fc.array(
    fc.record({
      kind: fc.constantFrom<WordPart["kind"]>("same", "removed", "added"),
      text: fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }).map((text) => text.replaceAll("…", ".")),
      cut: fc.nat(9),
    }),
  );
  const size = (all: readonly WordPart[]) => all.reduce((sum, { text, cut }) => sum + text.length + cut, 0);
  fc.assert(
    fc.property(parts, fc.nat(100), (all, most) => {
      const shown = cutWords(all, most);
      const marks = shown.filter(({ text }) => text.endsWith("…")).length;
      expect(size(shown)).toBe(size(all) + marks);
      expect(shown.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(most + marks);
      expect(marks).toBeLessThanOrEqual(2);
      expect(shown.every(({ text }) => text.isWellFormed())).toBe(true);
    }),
  );
});
