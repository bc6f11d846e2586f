import { expect, test } from "vitest";
import { shardFrom } from "../../src/cli/flag-values.js";

test.each([
  ["1/1", {}, { index: 1, count: 1 }],
  ["3/16", {}, { index: 3, count: 16 }],
  ["10000/10000", {}, { index: 10_000, count: 10_000 }],
  ["auto/16", { JOB_COMPLETION_INDEX: "0" }, { index: 1, count: 16 }],
  ["auto/16", { JOB_COMPLETION_INDEX: "15" }, { index: 16, count: 16 }],
])("--shard %s with %j is %j", (given, env, shard) => {
  expect(shardFrom(given, env)).toEqual(shard);
});

test.each(["", "3", "0/4", "5/4", "1/0", "a/b", "-1/4", "1/10001", "1.5/4", "1/4/2", " 1/4", "auto", "auto/0"])(
  "--shard %j is refused",
  (given) => {
    expect(shardFrom(given, { JOB_COMPLETION_INDEX: "0" })).toMatchObject({ path: "--shard" });
  },
);

test.each([undefined, "", "16", "-1", "x"])("--shard auto/16 is refused where JOB_COMPLETION_INDEX is %j", (index) => {
  const env = index === undefined ? {} : { JOB_COMPLETION_INDEX: index };
  const message = expect.stringMatching(/JOB_COMPLETION_INDEX, .*, expected 0 to 15$/);
  expect(shardFrom("auto/16", env)).toEqual({ path: "--shard", message });
});
