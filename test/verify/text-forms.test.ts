import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  canonicalText,
  parseJson,
  shortText,
  shortTextSql,
  unguardedText,
} from "../../src/verify/readers/canonical-cells.js";
import { textOfRow } from "../../src/verify/row-store.js";
import { query, quoted } from "../database/query.js";

describe("canonicalJson", () => {
  test.each([
    ['{"a":1,"b":[true,null,"x"]}', ' { "a" : 1.0 , "b" : [ true , null , "x" ] } '],
    ['"\\u0041\\/\\n"', '"A/\\u000a"'],
    ["1e3", "1000"],
    ["1e-7", "0.0000001"],
    ["-1.50E+2", "-150"],
    ["0", "-0.0e5"],
    ["12345678901234567890", "1234567890123456789e1"],
    ["0.1", "1E-1"],
    ["1e400", "10e399"],
    ['"1.0 [ ] \\" , 2"', '"1.0 [ ] \\u0022 , 2"'],
  ])("%s is %s", (one, other) => {
    expect(canonicalJson(one)).toBe(canonicalJson(other));
  });

  test.each([
    ["0.1", "0.10000000000000000001"],
    ["9007199254740993", "9007199254740992"],
    ["1e400", "1e401"],
    ["1", "-1"],
    ['"1"', "1"],
    ['"1.0"', '"1"'],
    ['" "', '""'],
    ["[]", "{}"],
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ["[1,2]", "[12]"],
    ['"\\ud800"', '"\\ufffd"'],
  ])("%s is not %s", (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });

  test("any JSON, with blanks or without, is one text, and still the same value", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1, "\t"), (text, blanks) => {
        const canonical = canonicalJson(text);
        expect(canonicalJson(JSON.stringify(JSON.parse(text), null, blanks))).toBe(canonical);
        expect(JSON.parse(canonical ?? "")).toEqual(JSON.parse(text));
      }),
    );
  });

  test("a text that is not JSON stays unchanged", () => {
    for (const text of ["", "plain", "{", "12 apples", '"', "-", "[1", "1.50s"]) expect(canonicalText(text)).toBe(text);
    expect(canonicalText("1.50")).toBe(canonicalText("1.5"));
  });
});

test("parseJson finds the names of any object, and its values", () => {
  const name = fc.string().filter((text) => !/^(0|[1-9]\d*)$/.test(text) && text !== "__proto__");
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), fc.constantFrom(undefined, 2), (object, blanks) => {
      const text = JSON.stringify(object, null, blanks);
      const { names, value, repeated } = parseJson(text);
      expect(names.map((each) => (blanks ? JSON.parse(`"${each}"`) : each))).toEqual(Object.keys(object));
      expect(value).toEqual(JSON.parse(text));
      expect(repeated).toBeUndefined();
    }),
  );
});

test("textOfRow distinguishes all rows", () => {
  const cell = fc.option(
    fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom("-,", "1,", "\ud800", "\udc00", "\ufffd", "[]", "")),
  );
  const row = fc.array(cell, { maxLength: 4 });
  const bytes = (cells: readonly (string | null)[]) => Buffer.from(textOfRow(cells)).toString("hex");
  fc.assert(
    fc.property(row, row, (one, other) => {
      expect(bytes(one) === bytes(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
  for (const [one, other] of [
    [["\ud800"], ["\ufffd"]],
    [
      ["a", "b"],
      ["ab", ""],
    ],
    [[null], [""]],
    [["-,"], [null, ""]],
  ] as const)
    expect(bytes(one)).not.toBe(bytes(other));
});

describe("shortText", () => {
  const long = "x".repeat(80);
  const texts = [
    ...["", "short", "'=1", "=1", "é".repeat(32), "é".repeat(33), "x".repeat(64), "x".repeat(65), long, `\0${long}`],
    ...["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠", "'", "x", "\n", "\\"].flatMap((first) => [
      `${first}${long}`,
      `'${first}${long}`,
    ]),
    `''=${long}`,
    `\ufeff${long}`,
    `'`,
    `漢😀${long}`,
    ...[60, 61, 62, 63, 65].flatMap((length) => ["=", "'=", "＝", "'＝"].map((first) => first + "y".repeat(length))),
  ];

  test("is the same in SQL and in JavaScript", async () => {
    const values = texts.map((text) => `(${quoted(text).replaceAll("\0", "' || chr(0) || '")})`).join(", ");
    const found = await query(`SELECT ${shortTextSql("t")} FROM (VALUES ${values}) v(t)`);
    expect(found.map(([text]) => text)).toEqual(texts.map(shortText));
  });

  test("distinguishes all texts, and without it all but the apostrophe of csv_safe", () => {
    expect(new Set(texts.map(shortText)).size).toBe(texts.length);
    for (const text of [...texts.filter((each) => !each.startsWith("'")), "'x", `'x${long}`]) {
      const guarded = /^[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
      expect(unguardedText(shortText(guarded))).toBe(unguardedText(shortText(text)));
    }
    expect(unguardedText(shortText(`'x${long}`))).not.toBe(unguardedText(shortText(`x${long}`)));
  });
});
