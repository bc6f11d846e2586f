import { expect, test } from "vitest";
import { alignedLines } from "../../src/terminal/aligned-lines.js";

test("columns are as wide as they need, numbers flush right, and nothing trails", () => {
  const rows = [
    ["name", "rows", "error"],
    ["a", "1,000", ""],
    ["longer", "7", "odd"],
  ];
  expect(alignedLines(rows, [1])).toEqual(["name     rows  error", "a       1,000", "longer      7  odd"]);
  expect(alignedLines(rows, [], 1)).toEqual(["name   rows  error", "a      1,000", "longer 7     odd"]);
  expect(alignedLines([], [])).toEqual([]);
});

test("a remark between the rows stands as it is", () => {
  expect(alignedLines([["a", "b"], ["a remark that is long"], ["cc", "d"]], [])).toEqual([
    "a   b",
    "a remark that is long",
    "cc  d",
  ]);
});
