import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findInside } from "../../../src/compare/lost/document-comparison.js";

interface Text {
  readonly content: string;
  readonly answer: string | null;
}

const textOf = (content: string, answer: string | null = null): Text => ({ content, answer });
const textsOf = (contents: readonly string[]) => contents.map((content) => textOf(content));

const none = { automatic: [], replaced: [], paired: [] };

/** The contents of the lost texts of people that are found inside the target. */
function inside(manual: readonly Text[], targets: readonly Text[], paired: readonly Text[] = []): readonly string[] {
  return [...findInside({ ...none, manual, targets, paired })].map(({ content }) => content);
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

it("finds the longer of two answers to one question first", () => {
  const lost = [textOf("Open?", "Yes"), textOf("Open?", "Yes, daily")];
  const found = findInside({ ...none, manual: lost, targets: [textOf("Open? Where?", "Yes, daily. Here")] });
  expect([...found].map(({ answer }) => answer)).toEqual(["Yes, daily"]);
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
      expect(findInside({ ...none, manual: textsOf([text, text]), targets: [textOf(around)] }).size).toBe(1);
    });

    it("is lost beside a longer lost text that is found there", () => {
      expect(inside(textsOf([text, around]), [textOf(`${around} Come in.`)])).toEqual([around]);
    });

    it.each([
      ["is cut in two", `${around} Ring twice.`, [around, "Ring twice."]],
      ["is part of a longer chunk now", around, [`We are here. ${around} Ring twice.`]],
    ])("is lost if the chunk that it repeats %s, and found if a new chunk has it, too", (_, automatic, targets) => {
      const options = { ...none, manual: textsOf([text]), automatic: textsOf([automatic]) };
      const found = findInside({ ...options, targets: textsOf(targets) });
      expect(found.has(options.manual[0] ?? textOf(""))).toBe(false);
      const more = findInside({ ...options, targets: textsOf([...targets, `Hours. ${text}`]) });
      expect(more.has(options.manual[0] ?? textOf(""))).toBe(true);
    });

    it("is lost if it is a part of the text that it replaced, which was cut at other places", () => {
      const replaced = textsOf([around]);
      const targets = textsOf([`${around} Ring twice.`]);
      expect(findInside({ ...none, manual: textsOf([text]), replaced, targets }).size).toBe(0);
    });
  },
);
