import { expect, test } from "vitest";
import { nearestName } from "../../../src/job/schema/shapes.js";

test.each([
  ["runn", "run"],
  ["paln", "plan"],
  ["stauts", "status"],
  ["verfiy", "verify"],
  ["list", undefined],
  ["ru", "run"],
  ["d", undefined],
  ["differ", "diff"],
  ["ser", "serve"],
  ["initialise", "init"],
  ["", undefined],
])("of the commands, %j is nearest to %s", (name, nearest) => {
  expect(nearestName(name, ["run", "plan", "status", "verify", "diff", "serve", "prune", "init"])).toBe(nearest);
});

test("a part that several names share suggests none of them", () => {
  expect(nearestName("keep", ["keep_signatures", "keep_everything"])).toBeUndefined();
  expect(nearestName("base", ["base_url", "timeout"])).toBe("base_url");
});
