import { expect, test } from "vitest";
import { isWithin, joinFindings } from "../../src/job/job-findings.js";

test.each([
  [["a", 0, "b"], ["a", 0], true],
  [["a"], ["a"], true],
  [["a"], [], true],
  [["a"], ["a", 0], false],
  [["a", 1], ["a", 0], false],
])("%j within %j: %s", (path, ancestor, within) => {
  expect(isWithin(path, ancestor)).toBe(within);
});

test("an earlier list covers its places and everything below, and its own findings are listed side by side", () => {
  const first = [{ path: ["keep"], message: "1" }];
  const second = ["keep", "keep.last", "name", "name"].map((path) => ({ path: path.split("."), message: "2" }));
  expect(joinFindings(first, second).map(({ path, message }) => `${path.join(".")} ${message}`)).toEqual([
    "keep 1",
    "name 2",
    "name 2",
  ]);
});
