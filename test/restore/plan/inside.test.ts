import fc from "fast-check";
import { expect, it } from "vitest";
import { insideOf } from "../../../src/restore/plan/inside.js";

it("finds a part of a text, however long and wherever it stands, and nothing else", () => {
  const letters = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom("a", "b"), minLength, maxLength });
  const cut = fc.record({ whole: letters(1, 400), from: fc.nat(399), length: fc.integer({ min: 1, max: 400 }) });
  fc.assert(
    fc.property(
      cut,
      fc.array(letters(0, 300), { maxLength: 3 }),
      letters(120, 200),
      ({ whole, from, length }, others, other) => {
        const texts = [...others, whole].map((content) => ({ content, answer: null }));
        const isInside = insideOf(texts);
        const part = whole.slice(from, from + length);
        expect(isInside({ content: part, answer: null })).toBe(part !== "");
        expect(isInside({ content: other, answer: null })).toBe(texts.some(({ content }) => content.includes(other)));
      },
    ),
  );
});

it("finds question and answer only in one text", () => {
  const long = "x".repeat(150);
  const isInside = insideOf([
    { content: `${long} one`, answer: "because" },
    { content: `${long} two`, answer: "so" },
  ]);
  expect(isInside({ content: long, answer: "so" })).toBe(true);
  expect(isInside({ content: `${long} one`, answer: "so" })).toBe(false);
});

it("finds a blank content nowhere", () => {
  expect(insideOf([{ content: "a  b", answer: null }])({ content: "  ", answer: null })).toBe(false);
});
