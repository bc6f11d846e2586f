import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInside } from "../../../src/restore/plan/inside.js";

interface Text {
  readonly content: string;
  readonly answer: string | null;
}

const textOf = (content: string, answer: string | null = null): Text => ({ content, answer });
const textsOf = (contents: readonly string[]) => contents.map((content) => textOf(content));

/** The contents of the lost texts that stand inside the target. */
function inside(lost: readonly Text[], targets: readonly Text[], paired: readonly Text[] = []): readonly string[] {
  return [...findInside({ lost, targets, paired })].map(({ content }) => content);
}

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
        const texts = textsOf([...others, whole]);
        const part = whole.slice(from, from + length);
        expect(inside([textOf(part)], texts)).toEqual(part === "" ? [] : [part]);
        const isThere = texts.some(({ content }) => content.includes(other));
        expect(inside([textOf(other)], texts)).toEqual(isThere ? [other] : []);
      },
    ),
  );
});

it("finds question and answer only in one text", () => {
  const long = "x".repeat(150);
  const targets = [textOf(`${long} one`, "because"), textOf(`${long} two`, "so")];
  expect(inside([textOf(long, "so")], targets)).toEqual([long]);
  expect(inside([textOf(`${long} one`, "so")], targets)).toEqual([]);
});

it("finds a blank content nowhere", () => {
  expect(inside([textOf("  ")], [textOf("a  b")])).toEqual([]);
});

describe.each(["Closed on Sundays.", "Closed on Sundays, and on the days of the fair. ".repeat(4)])(
  "a lost text: %s",
  (text) => {
    const around = `Open 9 to 5. ${text}`;

    it.each([
      ["that a new chunk has is found", [around], [], [text]],
      ["is lost if only an unchanged chunk has it", [around], [around], []],
      ["is lost beside an equal chunk that has a pair", [text], [text], []],
      ["is found if a new chunk has it beside the unchanged one", [around, `Hours. ${text}`], [around], [text]],
      ["is found in a chunk that has it twice, once more than before", [`${text} ${text}`], [text], [text]],
    ])("%s", (_, targets, paired, found) => {
      expect(inside([textOf(text)], textsOf(targets), textsOf(paired))).toEqual(found);
    });

    it("is found only as often as the target has it", () => {
      expect(findInside({ lost: textsOf([text, text]), targets: [textOf(around)], paired: [] }).size).toBe(1);
    });

    it("is lost beside a longer lost text that is found there", () => {
      expect(inside(textsOf([text, around]), [textOf(`${around} Come in.`)])).toEqual([around]);
    });
  },
);
