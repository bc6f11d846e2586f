import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ColumnType } from "../../src/rows/columns.js";
import { ExactNumber } from "../../src/rows/exact-json.js";
import { convert, isFinerThanColumn, isoTime, mistyped } from "../../src/rows/row-from-record.js";
import { inFull } from "../rounds.js";

const exact = (text: string) => new ExactNumber(text);

describe("convert takes", () => {
  it.each<[ColumnType, unknown]>([
    ["text", ""],
    ["text", "a"],
    ["text", "12"],
    ["integer", 0],
    ["integer", -7],
    ["integer", Number.MAX_SAFE_INTEGER],
    ["integer", Number.MIN_SAFE_INTEGER],
    ["integer", exact("9007199254740993")],
    ["integer", exact("9223372036854775807")],
    ["integer", exact("-9223372036854775808")],
    ["boolean", true],
    ["boolean", false],
    ["strings", []],
    ["strings", ["a", "", "null"]],
    ["list", []],
    ["list", [1, "a", null, { b: [] }]],
    ["object", { a: 1 }],
    ["any", "null"],
    ["any", false],
    ["any", 0],
    ["any", [null]],
    ["any", exact("0.10000000000000000001")],
  ])("%s: %j, as it is", (type, value) => {
    expect(convert(type, value)).toBe(value);
  });

  it.each<ColumnType>(["text", "integer", "boolean", "time", "strings", "list", "object", "any"])(
    "null for %s",
    (type) => {
      expect(convert(type, null)).toBeNull();
    },
  );
});

describe("convert coerces nothing:", () => {
  it.each<[ColumnType, unknown]>([
    ["text", 12],
    ["text", true],
    ["text", ["a"]],
    ["text", { a: 1 }],
    ["text", exact("9007199254740993")],
    ["integer", "12"],
    ["integer", 1.5],
    ["integer", true],
    ["integer", 2 ** 53],
    ["integer", Number.NaN],
    ["integer", Number.POSITIVE_INFINITY],
    ["integer", [1]],
    ["integer", exact("9223372036854775808")],
    ["integer", exact("-9223372036854775809")],
    ["integer", exact("18446744073709551616")],
    ["integer", exact("123456789012345678901234567890")],
    ["integer", exact("9007199254740993.5")],
    ["integer", exact("9007199254740993.0")],
    ["integer", exact("1e400")],
    ["boolean", 0],
    ["boolean", 1],
    ["boolean", "true"],
    ["boolean", ""],
    ["strings", "a"],
    ["strings", ["a", null]],
    ["strings", ["a", 1]],
    ["strings", [["a"]]],
    ["strings", {}],
    ["list", "a"],
    ["list", {}],
    ["list", 0],
    ["time", "2025-03-06T13:20:00Z"],
    ["time", exact("1e400")],
  ])("%s: %j", (type, value) => {
    expect(convert(type, value)).toBe(mistyped);
  });
});

describe("isoTime", () => {
  it.each([
    [0, "1970-01-01T00:00:00Z"],
    [-0, "1970-01-01T00:00:00Z"],
    [1741267200, "2025-03-06T13:20:00Z"],
    [1741267200.5, "2025-03-06T13:20:00.500Z"],
    [1741267200.123, "2025-03-06T13:20:00.123Z"],
    [1741267200.1234, "2025-03-06T13:20:00.123Z"],
    [1741267200.1239, "2025-03-06T13:20:00.123Z"],
    [1741267200.9996, "2025-03-06T13:20:00.999Z"],
    [1.001, "1970-01-01T00:00:01.001Z"],
    [1741267200.0004, "2025-03-06T13:20:00Z"],
    [-1, "1969-12-31T23:59:59Z"],
    [-0.001, "1969-12-31T23:59:59.999Z"],
    [-0.0001, "1969-12-31T23:59:59.999Z"],
    [-1.5, "1969-12-31T23:59:58.500Z"],
    [951782400, "2000-02-29T00:00:00Z"],
    [-62135596800, "0001-01-01T00:00:00Z"],
    [253402300799, "9999-12-31T23:59:59Z"],
    [253402300799.999, "9999-12-31T23:59:59.999Z"],
    [253402300799.9996, "9999-12-31T23:59:59.999Z"],
  ])("%d is %s", (seconds, text) => {
    expect(isoTime(seconds)).toBe(text);
  });

  it.each([
    -62135596800.001,
    253402300800,
    1741267200000,
    2 ** 53,
    -(2 ** 53),
    Number.MAX_VALUE,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    "1741267200",
    "",
    "NaN",
    true,
    [],
    [1741267200],
    {},
    null,
    undefined,
    1741267200n,
    new Date(0),
  ])("%o is no time", (value) => {
    expect(isoTime(value)).toBe(mistyped);
  });

  it("reads a number of more digits than JavaScript holds, to the millisecond", () => {
    expect(convert("time", exact("1741267200.12345678901234"))).toBe("2025-03-06T13:20:00.123Z");
    expect(convert("time", exact("9007199254740993"))).toBe(mistyped);
  });
});

describe("isFinerThanColumn", () => {
  it.each([
    [0, false],
    [-0, false],
    [1741267200, false],
    [1.001, false],
    [1741267200.123, false],
    [253402300799.999, false],
    [-0.001, false],
    [1741267200.1234, true],
    [1741267200.123456, true],
    [1e-9, true],
    [exact("1741267200.1230000001"), true],
    ["1741267200.1234", false],
    [null, false],
    [[1741267200.1234], false],
  ])("%o: %s", (seconds, is) => {
    expect(isFinerThanColumn(seconds)).toBe(is);
  });

  it.runIf(inFull)("is false for every millisecond of the years that a column holds", () => {
    const milliseconds = fc.integer({ min: -62135596800000, max: 253402300799999 });
    fc.assert(
      fc.property(milliseconds, (each) => {
        expect(isFinerThanColumn(each / 1000)).toBe(false);
        expect(Date.parse(String(isoTime(each / 1000)))).toBe(each);
      }),
      { numRuns: 5000 },
    );
  });
});
