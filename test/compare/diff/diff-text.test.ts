import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffText } from "../../../src/compare/read-changes.js";
import { inFull } from "../../rounds.js";

const text = (before: string | null, after: string | null) =>
  diffText(before, after)
    ?.map(({ kind, text }) => (kind === "same" ? text : kind === "removed" ? `[-${text}-]` : `{+${text}+}`))
    .join("");

describe("words", () => {
  test.each([
    ["one two three", "one 2 three", "one [-two-]{+2+} three"],
    ["one two", "one two three", "one two{+ three+}"],
    ["preorder", "prefix", "[-preorder-]{+prefix+}"],
    ["the end of it", "the bend of it", "the [-end-]{+bend+} of it"],
    ["東京の天気は晴れです", "東京の天気は雨です", "東京の天気は[-晴れ-]{+雨+}です"],
    ["我们明天见面", "我们后天见面", "我们[-明天-]{+后天+}见面"],
    ["ฉันกินข้าว", "ฉันกินปลา", "ฉันกิน[-ข้าว-]{+ปลา+}"],
    ["👩‍👧 here", "👨‍👧 here", "[-👩‍👧-]{+👨‍👧+} here"],
    ["", "new", "{+new+}"],
    ["old", "", "[-old-]"],
    [null, "new", "{+new+}"],
  ])("%s → %s", (before, after, expected) => {
    expect(text(before, after)).toBe(expected);
  });

  test("nothing for equal texts", () => {
    expect(diffText("same", "same")).toBeUndefined();
    expect(diffText(null, null)).toBeUndefined();
    expect(diffText(null, "")).toEqual([]);
  });
});

test("an uncut diff contains both texts", () => {
  const words = fc.array(fc.constantFrom("a", "b ", "c\n", "漢字", "仮名", "é", "😀", " ", ", "), { maxLength: 15 });
  fc.assert(
    fc.property(words, words, (one, other) => {
      const [before, after] = [one.join(""), other.join("")];
      const parts = diffText(before, after) ?? [{ kind: "same", text: before, cut: 0 }];
      const without = (kind: string) => parts.filter((part) => part.kind !== kind).map((part) => part.text);
      expect(parts.every(({ cut }) => cut === 0)).toBe(true);
      expect(without("added").join("")).toBe(before);
      expect(without("removed").join("")).toBe(after);
    }),
    { numRuns: 300 },
  );
});

describe("long texts", () => {
  const long = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(" ");

  test("are cut to the context of the changes", () => {
    const parts = diffText(long, long.replace("word9000 ", "other ").replace("word9500 ", "another "));
    expect(parts?.map(({ kind }) => kind)).toEqual(["same", "removed", "added", "same", "removed", "added", "same"]);
    for (const part of parts ?? []) expect(part.text.length).toBeLessThan(200);
    expect(parts?.[0]).toMatchObject({ text: expect.stringMatching(/^….*word8999 $/), cut: expect.any(Number) });
    const same = parts
      ?.filter(({ kind }) => kind !== "added")
      .map(({ text, cut }) => text.length + cut - (cut > 0 ? 1 : 0));
    expect(same?.reduce((sum, each) => sum + each, 0)).toBe(long.length);
  });

  test("of a million characters, too", () => {
    const longer = long.repeat(6);
    const parts = diffText(`start ${longer} end`, `begin ${longer.replace("word9000 ", "other ")} stop`);
    expect(parts?.map(({ kind, text }) => `${kind} ${text.slice(0, 9)}`)).toEqual([
      "removed start ",
      "added begin ",
      expect.stringContaining("same word0"),
      "removed word9000 ",
      "added other ",
      expect.stringContaining("same word9001"),
      "removed end",
      "added stop",
    ]);
  });

  test.runIf(inFull)("that have nothing in common are reported whole, with bounded work", () => {
    const other = Array.from({ length: 20_000 }, (_, at) => `other${at}`).join("\t");
    const parts = diffText(long, other);
    expect(parts).toHaveLength(2);
    expect(parts?.[0]).toMatchObject({ kind: "removed", cut: long.length - 1000 });
    expect(diffText(long.repeat(20), other)?.[0]?.text.length).toBeLessThan(1100);
  });

  test.runIf(inFull)("that differ in too many words are compared line by line", () => {
    const lines = (word: string) =>
      Array.from({ length: 3_000 }, (_, at) => (at === 7 ? "kept\n" : `${word} ${at}\n`)).join("");
    expect(diffText(lines("one"), lines("two"))?.length).toBeLessThan(10);
  });
});
