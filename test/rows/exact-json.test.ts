import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber, jsonText, parseJson } from "../../src/rows/exact-json.js";
import { jsonValues } from "./json-arbitrary.js";

/** Replaces lone surrogates in all strings and member names. If two names become equal, the last value counts. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), wellFormed(item)]));
}

/** Rounds exact numbers as JSON.parse does. */
function rounded(value: unknown): unknown {
  if (value instanceof ExactNumber) return JSON.parse(value.text);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item)]));
}

describe("jsonText", () => {
  it.each([
    [null, "null"],
    ["", '""'],
    ["null", '"null"'],
    ["a\nb\r\u2028", '"a\\nb\\r\u2028"'],
    ["\ud800", '"\ufffd"'],
    ["😀", '"😀"'],
    ["\\ud800", '"\\\\ud800"'],
    [{ "\udc00": ["\ud83d!"] }, '{"\ufffd":["\ufffd!"]}'],
    [[], "[]"],
    [{}, "{}"],
    [new ExactNumber("9007199254740993"), "9007199254740993"],
    [
      { b: new ExactNumber("-1.00E+400"), a: [new ExactNumber("0.10000000000000000001")] },
      '{"b":-1.00E+400,"a":[0.10000000000000000001]}',
    ],
    [
      JSON.parse('{"__proto__":{"a":1},"constructor":null,"toJSON":"x"}'),
      '{"__proto__":{"a":1},"constructor":null,"toJSON":"x"}',
    ],
    [[JSON.parse('{"__proto__":1}'), "\ud800"], '[{"__proto__":1},"\ufffd"]'],
  ])("of %j is %s", (value, text) => {
    expect(jsonText(value)).toBe(text);
  });

  it("is read by JSON.parse as the value, on one line", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const text = jsonText(value);
        expect(JSON.parse(text)).toEqual(rounded(wellFormed(value)));
        expect(text).not.toMatch(/[\n\r]/);
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("is read by parseJson as the value to the last digit", () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(parseJson(jsonText([value]))).toEqual(wellFormed([value]));
      }),
      { numRuns: 500 },
    );
  });
});
