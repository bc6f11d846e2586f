import { expect, test } from "vitest";
import { differingMembers, isSameMetadata, isSameValue } from "../../../src/compare/proof/settings.js";

test("nothing has many words, and members no order", () => {
  for (const nothing of [null, undefined, "", [], {}, { a: null, b: { c: "" } }])
    expect(isSameValue(nothing, null)).toBe(true);
  for (const something of [0, false, " ", [null], { a: 0 }]) expect(isSameValue(something, null)).toBe(false);
  expect(isSameValue({ a: 1, b: [{ c: 2, d: null }] }, { b: [{ c: 2 }], a: 1 })).toBe(true);
  expect(isSameValue([1, 2], [2, 1])).toBe(false);
  expect(isSameValue({ a: "1" }, { a: 1 })).toBe(false);
});

test("a number of metadata may come back as its text, and nothing else", () => {
  expect(isSameMetadata(12, "12")).toBe(true);
  expect(isSameMetadata("12.0", 12)).toBe(true);
  expect(isSameMetadata("12", "12.0")).toBe(false);
  expect(isSameMetadata(0, "")).toBe(false);
  expect(isSameMetadata(12, "13")).toBe(false);
});

test("members that differ are named by their paths", () => {
  const [one, other] = [
    { a: { b: 1, c: 2 }, d: null },
    { a: { c: 3, b: 1 }, d: 4 },
  ];
  expect(differingMembers(one, other, false)).toEqual(["a.c", "d"]);
  expect(differingMembers(one, other, true)).toEqual(["a.c"]);
  expect(differingMembers({ a: { b: 1 } }, null, true)).toEqual(["a"]);
});
